import { Module } from '@nestjs/common';
import { DegradedUsageService } from './degraded-usage.service';
import { JournalsService } from './journals.service';
import { SeriesService } from './series.service';
import { UsageController } from './usage.controller';
import { UsageLedger } from './usage-ledger';
import { UsageService } from './usage.service';

@Module({ controllers: [UsageController], providers: [UsageLedger, UsageService, SeriesService, DegradedUsageService, JournalsService], exports: [UsageLedger] })
export class UsageModule {}
