import { Processor, WorkerHost } from '@nestjs/bullmq';
import { Inject, Logger } from '@nestjs/common';
import { forgetDeadNodes } from '@quotaplane/policy';
import { forgetEndedJournals } from '@quotaplane/usage';
import type { Job } from 'bullmq';
import type { Redis } from 'ioredis';
import { HistoryRetention } from '../database/history-retention';
import { REDIS } from '../database/redis';
import { Reconciliation } from '../ledger/reconciliation';
import { EventSweep } from '../events/event-sweep';
import { AutomaticPenalties } from '../penalties/automatic-penalties';
import { AdjustmentSweep } from '../statements/adjustment-sweep';
import { PeriodClosing } from '../statements/period-closing';
import { PeriodSweep } from '../statements/period-sweep';
import { QuotaSweep } from '../quotas/quota-sweep';
import { TrafficFold } from '../usage/traffic-fold';
import { UsageFold } from '../usage/usage-fold';
import { ChangeRelay } from './change-relay';
import { RepeatedMessage } from './polling-loop';
import { RETRY_AFTER_MS, SWEEPS, SWEEPS_QUEUE, type Sweep } from './queue-names';
import { TimelineSweep } from './timeline-sweep';

/** Work that comes round by itself; each is harmless to repeat, so a lost lock or a killed worker costs nothing. */
@Processor(SWEEPS_QUEUE, { concurrency: Object.keys(SWEEPS).length, runRetryDelay: RETRY_AFTER_MS })
export class SweepsProcessor extends WorkerHost {
  private readonly logger = new Logger(SweepsProcessor.name);
  private readonly work: Readonly<Record<Sweep, () => Promise<unknown>>>;
  private readonly complaints = new Map((Object.keys(SWEEPS) as Sweep[]).map((name) => [name, new RepeatedMessage((message) => this.logger.error(message))]));

  constructor(
    @Inject(ChangeRelay) relay: ChangeRelay,
    @Inject(UsageFold) usage: UsageFold,
    @Inject(Reconciliation) reconciliation: Reconciliation,
    @Inject(QuotaSweep) quotas: QuotaSweep,
    @Inject(TrafficFold) traffic: TrafficFold,
    @Inject(TimelineSweep) timelines: TimelineSweep,
    @Inject(AutomaticPenalties) penalties: AutomaticPenalties,
    @Inject(HistoryRetention) history: HistoryRetention,
    @Inject(EventSweep) events: EventSweep,
    @Inject(PeriodSweep) periods: PeriodSweep,
    @Inject(PeriodClosing) closing: PeriodClosing,
    @Inject(AdjustmentSweep) adjustments: AdjustmentSweep,
    @Inject(REDIS) redis: Redis,
  ) {
    super();
    this.work = {
      changes: () => relay.drain(),
      usage: () => usage.run(),
      reconciliation: () => reconciliation.run(),
      quotas: () => quotas.run(),
      traffic: () => traffic.run(),
      timelines: () => timelines.run(),
      nodes: () => Promise.all([forgetDeadNodes(redis), forgetEndedJournals(redis)]),
      history: () => history.sweep(),
      penalties: () => penalties.dropEnded(),
      periods: () => periods.run(),
      closing: () => closing.run(),
      adjustments: () => adjustments.run(),
      events: () => events.run(),
    };
  }

  override async process(job: Job): Promise<void> {
    const sweep = (Object.keys(SWEEPS) as Sweep[]).find((name) => name === job.name);
    if (!sweep) return;
    try {
      await this.work[sweep]();
      this.complaints.get(sweep)?.forget();
    } catch (error) {
      // BullMQ keeps failed jobs to itself, and a sweep that always fails must not be silent.
      this.complaints.get(sweep)?.say(`The sweep of ${sweep} failed and is tried again: ${error instanceof Error ? error.message : String(error)}`);
      throw error;
    }
  }
}
