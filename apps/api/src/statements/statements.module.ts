import { Module } from '@nestjs/common';
import { Reconciliation } from '../ledger/reconciliation';
import { UsageModule } from '../usage/usage.module';
import { AdjustmentSweep } from './adjustment-sweep';
import { PeriodClosing } from './period-closing';
import { PeriodSweep } from './period-sweep';
import { StatementExport } from './statement-export';
import { StatementsController } from './statements.controller';
import { StatementsService } from './statements.service';

/** Statements in the HTTP process. */
@Module({ imports: [UsageModule], controllers: [StatementsController], providers: [StatementsService, StatementExport, PeriodClosing, PeriodSweep, Reconciliation] })
export class StatementsModule {}

/** What closes periods by itself: of the worker process. */
export const STATEMENT_SWEEPS = [PeriodSweep, PeriodClosing, AdjustmentSweep];
