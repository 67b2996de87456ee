import { Inject, Injectable, Logger } from '@nestjs/common';
import { acknowledgeJournals, readJournals, type JournalBatch } from '@quotaplane/usage';
import type { Redis } from 'ioredis';
import { failpoint } from '../config/failpoints';
import { PrismaService } from '../database/prisma.service';
import { REDIS } from '../database/redis';
import { LedgerUpdates } from '../ledger/ledger-updates';
import { Reconciliation } from '../ledger/reconciliation';
import { OutboxMetrics } from '../outbox/outbox-metrics';
import { RepeatedMessage } from '../outbox/polling-loop';
import { foldBatches } from './fold-batches';
import { upsertLastFold } from './fold-sql';

/** Folds the nodes' journals into the ledger (M3). Counts only grow and are written with GREATEST, so repeats, losses and a second folder are harmless. */
@Injectable()
export class UsageFold {
  private readonly logger = new Logger(UsageFold.name);
  private readonly complaint = new RepeatedMessage((message) => this.logger.error(message));
  private running: Promise<number> | undefined;

  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(REDIS) private readonly redis: Redis,
    @Inject(OutboxMetrics) private readonly metrics: OutboxMetrics,
    @Inject(LedgerUpdates) private readonly updates: LedgerUpdates,
    @Inject(Reconciliation) private readonly reconciliation: Reconciliation,
  ) {}

  /** Calls during a run join it. @returns how many incarnations had something new */
  run(): Promise<number> {
    this.running ??= this.fold().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  private async fold(): Promise<number> {
    const [seconds, micros] = await this.redis.time();
    const batches = await readJournals(this.redis, (problem) => this.complaint.say(problem));
    await this.commit(batches, new Date(Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)));
    failpoint('fold.after-commit');
    const rows = batches.flatMap((batch) => batch.rows);
    await this.updates.follow(rows);
    this.reconciliation.note(rows);
    // After the commit and what follows from it only: a node forgets what is acknowledged, and then nobody would come back to it.
    if (batches.length > 0) await this.acknowledge(batches);
    this.metrics.foldedAt.setToCurrentTime();
    return batches.length;
  }

  /** A lost acknowledgement makes the node write the same counts again. */
  protected acknowledge(batches: readonly JournalBatch[]): Promise<void> {
    failpoint('fold.before-ack');
    return acknowledgeJournals(this.redis, batches);
  }

  private commit(batches: readonly JournalBatch[], readAt: Date): Promise<void> {
    return this.prisma.transaction(async (tx) => {
      await foldBatches(tx, batches);
      await upsertLastFold(tx, readAt);
      failpoint('fold.before-commit');
    }, { timeoutMs: 60_000 });
  }
}
