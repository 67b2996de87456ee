import { LISTS_MAX, type ListsDocument } from '@quotaplane/contracts';
import type { Tx } from '../database/prisma.service';

type Entry = ListsDocument['entries'][number];

/** Entries of all lists that run or are to come, as guards take them, oldest first. */
export async function readListEntries(tx: Tx, now: Date): Promise<Entry[]> {
  const rows = await tx.listEntry.findMany({
    where: { endedAt: null, OR: [{ until: null }, { until: { gt: now } }] },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    take: LISTS_MAX,
  });
  return rows.map((row) => ({
    id: row.id,
    list: row.list as Entry['list'],
    tenant: row.tenant,
    scope: row.scope as Entry['scope'],
    subject: row.subject,
    // In force when it was written: a store's clock that is behind must not delay it.
    fromMs: row.from <= row.createdAt ? null : row.from.getTime(),
    untilMs: row.until?.getTime() ?? null,
  }));
}
