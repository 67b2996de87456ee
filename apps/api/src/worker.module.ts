import { getQueueToken } from '@nestjs/bullmq';
import { Inject, Module, type DynamicModule } from '@nestjs/common';
import type { Queue } from 'bullmq';
import type { AppConfig } from './config/app-config';
import { ConfigModule } from './config/config.module';
import { DatabaseModule } from './database/database.module';
import { HistoryRetention } from './database/history-retention';
import { EventSweep } from './events/event-sweep';
import { ChangeRelay } from './outbox/change-relay';
import { ChangesProcessor } from './outbox/changes.processor';
import { OutboxModule } from './outbox/outbox.module';
import { CHANGES_QUEUE } from './outbox/queue-names';
import { WorkerQueuesModule } from './outbox/queues.module';
import { StoreWatch } from './outbox/store-watch';
import { SweepSchedule } from './outbox/sweep-schedule';
import { SweepsProcessor } from './outbox/sweeps.processor';
import { WantedServer } from './outbox/wanted-server';
import { AutomaticPenalties } from './penalties/automatic-penalties';
import { STATEMENT_SWEEPS } from './statements/statements.module';
import { QuotaSweep } from './quotas/quota-sweep';
import { TrafficFold } from './usage/traffic-fold';
import { UsageFold } from './usage/usage-fold';
import { UsageLedger } from './usage/usage-ledger';
import { WebhookSendingModule } from './webhooks/sending.module';
import { WebhookSender } from './webhooks/webhook-sender';

/** Every room of the worker process: it publishes, folds and sweeps, and answers no HTTP. */
@Module({})
export class WorkerModule {
  constructor(
    @Inject(WantedServer) private readonly wanted: WantedServer,
    @Inject(StoreWatch) private readonly storeWatch: StoreWatch,
    @Inject(ChangesProcessor) private readonly changes: ChangesProcessor,
    @Inject(ChangeRelay) private readonly relay: ChangeRelay,
    @Inject(SweepsProcessor) private readonly sweeps: SweepsProcessor,
    @Inject(WebhookSender) private readonly webhooks: WebhookSender,
    @Inject(getQueueToken(CHANGES_QUEUE)) private readonly changesQueue: Queue,
  ) {}

  static with(config: AppConfig): DynamicModule {
    return {
      module: WorkerModule,
      imports: [ConfigModule.with(config), DatabaseModule, WorkerQueuesModule, OutboxModule, WebhookSendingModule],
      providers: [UsageFold, UsageLedger, TrafficFold, HistoryRetention, AutomaticPenalties, EventSweep, QuotaSweep, ...STATEMENT_SWEEPS, SweepSchedule, StoreWatch, ChangesProcessor, SweepsProcessor],
    };
  }

  start(): void {
    this.wanted.start();
    this.storeWatch.start();
    this.webhooks.start();
    // A connection that is retried reports here too; without a listener each attempt would be printed. The watch says it once.
    this.changesQueue.on('error', () => undefined);
    for (const { worker } of [this.changes, this.sweeps]) worker.on('error', () => undefined);
  }

  /** Takes nothing new and finishes what is under way; the stores must still be open. */
  async stop(): Promise<void> {
    await Promise.all([this.relay.stop(), this.wanted.stop(), this.storeWatch.stop(), this.webhooks.stop(), this.changes.worker.close(), this.sweeps.worker.close()]);
  }
}
