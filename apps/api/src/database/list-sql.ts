import type { Tx } from './prisma.service';

const LISTS_LOCK = 72_707_371;

/**
 * Entries of all lists that run or are to come. Serialises those who add one until their transactions end, so that two of them never pass the
 * bound together; taken after the audit heads, like every other lock.
 */
export async function countOpenEntries(tx: Tx, now: Date): Promise<number> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(${LISTS_LOCK})`;
  return tx.listEntry.count({ where: { endedAt: null, OR: [{ until: null }, { until: { gt: now } }] } });
}
