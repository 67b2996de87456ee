import { Module } from '@nestjs/common';
import { OffendersController } from './offenders.controller';
import { OffendersService } from './offenders.service';

@Module({ controllers: [OffendersController], providers: [OffendersService], exports: [OffendersService] })
export class OffendersModule {}
