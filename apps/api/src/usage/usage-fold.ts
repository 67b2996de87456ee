import { Inject, Injectable } from '@nestjs/common';
import { acknowledgeJournals, readJournals, type JournalBatch } from '@quotaplane/usage';
import type { Redis } from 'ioredis';
import { OutboxMetrics } from '../outbox/outbox-metrics';
import { PrismaService } from '../database/prisma.service';
import { REDIS } from '../database/redis';
import { upsertIncarnations, upsertJournals, upsertPeriods } from './fold-sql';
import { periodRowsOf } from './period-rows';

/** Folds the nodes' journals into the ledger (M3). Counts only grow and are written with GREATEST, so repeats, losses and a second folder are harmless. */
@Injectable()
export class UsageFold {
  private running: Promise<number> | undefined;

  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(REDIS) private readonly redis: Redis,
    @Inject(OutboxMetrics) private readonly metrics: OutboxMetrics,
  ) {}

  /** Calls during a run join it. @returns how many incarnations had something new */
  run(): Promise<number> {
    this.running ??= this.fold().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  private async fold(): Promise<number> {
    const batches = await readJournals(this.redis);
    if (batches.length > 0) {
      await this.commit(batches);
      // After the commit only: a node forgets what is acknowledged.
      await this.acknowledge(batches);
    }
    this.metrics.foldedAt.setToCurrentTime();
    return batches.length;
  }

  /** A lost acknowledgement makes the node write the same counts again. */
  protected acknowledge(batches: readonly JournalBatch[]): Promise<void> {
    return acknowledgeJournals(this.redis, batches);
  }

  private commit(batches: readonly JournalBatch[]): Promise<void> {
    const rows = batches.flatMap((batch) => batch.rows);
    return this.prisma.transaction(async (tx) => {
      await upsertJournals(tx, rows);
      await upsertIncarnations(tx, batches);
      await upsertPeriods(tx, await periodRowsOf(tx, rows));
    }, { timeoutMs: 60_000 });
  }
}
