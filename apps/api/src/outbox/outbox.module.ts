import { Module } from '@nestjs/common';
import { LedgerUpdates } from '../ledger/ledger-updates';
import { QuotaBases } from '../ledger/quota-bases';
import { Reconciliation } from '../ledger/reconciliation';
import { ThresholdWatch } from '../ledger/threshold-watch';
import { UsageLedger } from '../usage/usage-ledger';
import { CataloguePublisher } from './catalogue-publisher';
import { ChangeRelay } from './change-relay';
import { KeyPublisher } from './key-publisher';
import { OutboxMetrics } from './outbox-metrics';
import { TenantPublisher } from './tenant-publisher';
import { TimelineSweep } from './timeline-sweep';
import { WantedServer } from './wanted-server';

const PARTS = [OutboxMetrics, UsageLedger, QuotaBases, ThresholdWatch, LedgerUpdates, Reconciliation, TenantPublisher, KeyPublisher, CataloguePublisher, ChangeRelay, TimelineSweep, WantedServer];

/** What publishes: of the worker process alone. */
@Module({ providers: PARTS, exports: PARTS })
export class OutboxModule {}
