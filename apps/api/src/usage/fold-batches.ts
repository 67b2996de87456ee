import type { JournalBatch } from '@quotaplane/usage';
import type { Tx } from '../database/prisma.service';
import { takeBackRecovered } from '../ledger/counter-sql';
import { upsertDegradedHours, upsertIncarnations, upsertJournals, upsertPeriods } from './fold-sql';
import { periodRowsOf } from './period-rows';

/** The one way from a journal into the ledger, from Redis or posted: with GREATEST, so that repeats and both ways together count once (M3). */
export async function foldBatches(tx: Tx, batches: readonly JournalBatch[]): Promise<void> {
  if (batches.length === 0) return;
  const rows = batches.flatMap((batch) => batch.rows);
  if (rows.length > 0) {
    await takeBackRecovered(tx, batches);
    await upsertJournals(tx, rows);
    await upsertDegradedHours(tx, rows);
    await upsertPeriods(tx, await periodRowsOf(tx, rows));
  }
  await upsertIncarnations(tx, batches);
}
