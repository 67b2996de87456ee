import { periodsAround, type JournalRow } from '@quotaplane/usage';
import type { Tx } from '../database/prisma.service';
import type { PeriodRow } from './fold-sql';

/** The period with this id in a tenant's calendar. An id that the present anchor does not make was made by an earlier one: the day of the id. */
const periodOf = (id: string, timezone: string, anchorDay: number) => {
  // Noon, so that no zone's offset moves it to another date.
  const nowMs = Date.parse(`${id}T12:00:00Z`);
  const find = (day: number) => periodsAround({ timezone, anchorDay: day, nowMs, before: 1, after: 1 }).find((period) => period.id === id);
  return find(anchorDay) ?? find(Number(id.slice(8)));
};

/** Rows for the periods that were counted in and are not known yet. */
export async function periodRowsOf(tx: Tx, rows: readonly Pick<JournalRow, 'tenant' | 'periodId'>[]): Promise<PeriodRow[]> {
  const pairs = new Map(rows.map(({ tenant, periodId }) => [`${tenant}|${periodId}`, { tenant, periodId }]));
  if (pairs.size === 0) return [];
  const slugs = [...new Set(rows.map(({ tenant }) => tenant))];
  const [known, tenants] = await Promise.all([
    tx.usagePeriod.findMany({ where: { tenant: { in: slugs }, periodId: { in: [...new Set(rows.map(({ periodId }) => periodId))] } }, select: { tenant: true, periodId: true } }),
    tx.tenant.findMany({ where: { slug: { in: slugs } }, select: { slug: true, timezone: true, anchorDay: true } }),
  ]);
  for (const { tenant, periodId } of known) pairs.delete(`${tenant}|${periodId}`);
  const calendars = new Map(tenants.map((row) => [row.slug, row]));
  return [...pairs.values()].flatMap(({ tenant, periodId }) => {
    const { timezone, anchorDay } = calendars.get(tenant) ?? { timezone: 'UTC', anchorDay: 1 };
    const period = periodOf(periodId, timezone, anchorDay);
    return period ? [{ tenant, periodId, startAt: new Date(period.startMs), endAt: new Date(period.endMs), timezone }] : [];
  });
}
