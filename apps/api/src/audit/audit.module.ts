import { Global, Module } from '@nestjs/common';
import { AuditController } from './audit.controller';
import { AuditService } from './audit.service';
import { ChangesService } from './changes.service';

/** The one way to change anything, for every room that changes something, without its HTTP side: the worker and the seed use it too. */
@Global()
@Module({ providers: [ChangesService], exports: [ChangesService] })
export class ChangesModule {}

/** Reading and proving what was changed. */
@Module({ imports: [ChangesModule], controllers: [AuditController], providers: [AuditService], exports: [ChangesModule] })
export class AuditModule {}
