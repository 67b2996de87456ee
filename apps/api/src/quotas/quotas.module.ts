import { Module } from '@nestjs/common';
import { UsageModule } from '../usage/usage.module';
import { TopUpsController } from './top-ups.controller';
import { TopUpsService } from './top-ups.service';

@Module({ imports: [UsageModule], controllers: [TopUpsController], providers: [TopUpsService] })
export class QuotasModule {}
