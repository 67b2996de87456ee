import { Global, Module } from '@nestjs/common';
import { ChangesService } from './changes.service';

/** The one way to change anything, for every room that changes something. */
@Global()
@Module({ providers: [ChangesService], exports: [ChangesService] })
export class AuditModule {}
