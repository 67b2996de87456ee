import { Inject, Injectable } from '@nestjs/common';
import { RECORD_MEMORY_MS } from '@quotaplane/contracts';
import { Clock } from '../config/clock';
import { deleteChangesBefore, deleteDeliveriesBefore, deleteEventsBefore, deleteRecordIdsBefore, deleteTrafficBefore } from './history-sql';
import { PrismaService } from './prisma.service';

const DAY_MS = 86_400_000;
/**
 * How long what is of no more consequence is kept: minutes of charts, receipts of changes, ids of usage records, ended deliveries, and events, whose keys must
 * outlive all that can happen to their period. Ledger and audit log are never trimmed.
 */
export const HISTORY_MS = { traffic: 90 * DAY_MS, changes: 180 * DAY_MS, recordIds: RECORD_MEMORY_MS, deliveries: 90 * DAY_MS, events: 400 * DAY_MS } as const;

const ROWS_PER_BATCH = { traffic: 5_000, changes: 1_000, recordIds: 5_000, deliveries: 1_000, events: 1_000 } as const;
/** A long backlog is worked off over several sweeps, so that none holds its job for long. */
const BATCHES_MAX = 100;

/** Trims what only grows, in small batches. A sweep of the worker; any number of workers may do it at once. */
@Injectable()
export class HistoryRetention {
  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** @returns rows deleted */
  async sweep(rowsPerBatch: Readonly<Record<keyof typeof ROWS_PER_BATCH, number>> = ROWS_PER_BATCH): Promise<Record<keyof typeof HISTORY_MS, number>> {
    const before = (ageMs: number): Date => new Date(this.clock.now() - ageMs);
    return {
      traffic: await inBatches(rowsPerBatch.traffic, () => deleteTrafficBefore(this.prisma, before(HISTORY_MS.traffic), rowsPerBatch.traffic)),
      changes: await inBatches(rowsPerBatch.changes, () => deleteChangesBefore(this.prisma, before(HISTORY_MS.changes), rowsPerBatch.changes)),
      recordIds: await inBatches(rowsPerBatch.recordIds, () => deleteRecordIdsBefore(this.prisma, before(HISTORY_MS.recordIds), rowsPerBatch.recordIds)),
      deliveries: await inBatches(rowsPerBatch.deliveries, () => deleteDeliveriesBefore(this.prisma, before(HISTORY_MS.deliveries), rowsPerBatch.deliveries)),
      events: await inBatches(rowsPerBatch.events, () => deleteEventsBefore(this.prisma, before(HISTORY_MS.events), rowsPerBatch.events)),
    };
  }
}

async function inBatches(full: number, deleteBatch: () => Promise<number>): Promise<number> {
  let deleted = 0;
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    const rows = await deleteBatch();
    deleted += rows;
    if (rows < full) break;
  }
  return deleted;
}
