import { Module } from '@nestjs/common';
import { SeriesService } from './series.service';
import { UsageController } from './usage.controller';
import { UsageLedger } from './usage-ledger';
import { UsageService } from './usage.service';

@Module({ controllers: [UsageController], providers: [UsageLedger, UsageService, SeriesService], exports: [UsageLedger] })
export class UsageModule {}
