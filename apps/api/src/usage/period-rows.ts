import { periodOfId, type JournalRow, type TenantPeriod } from '@quotaplane/usage';
import type { Tx } from '../database/prisma.service';
import { calendarsOf, WITH_CALENDARS, type CalendarRows } from '../tenants/tenant-calendar';
import { readKnownPeriods, type PeriodRow } from './fold-sql';

const NO_TENANT: CalendarRows = { timezone: 'UTC', anchorDay: 1, calendars: [] };

/** The period with this id in a tenant's timeline. An id that it does not make was made by a calendar of a release before there were timelines: the day of the id. */
const periodIn = (tenant: CalendarRows, id: string): TenantPeriod | undefined =>
  periodOfId({ calendars: calendarsOf(tenant), id }) ?? periodOfId({ calendars: [{ timezone: tenant.timezone, anchorDay: Number(id.slice(8)), fromMs: null }], id });

/** Rows for the periods that were counted in and are not known yet. */
export async function periodRowsOf(tx: Tx, rows: readonly Pick<JournalRow, 'tenant' | 'periodId'>[]): Promise<PeriodRow[]> {
  const pairs = new Map(rows.map(({ tenant, periodId }) => [`${tenant}|${periodId}`, { tenant, periodId }]));
  if (pairs.size === 0) return [];
  for (const { tenant, periodId } of await readKnownPeriods(tx, [...pairs.values()])) pairs.delete(`${tenant}|${periodId}`);
  if (pairs.size === 0) return [];
  const slugs = [...new Set([...pairs.values()].map(({ tenant }) => tenant))];
  const tenants = await tx.tenant.findMany({ where: { slug: { in: slugs } }, select: { slug: true, timezone: true, anchorDay: true, ...WITH_CALENDARS } });
  const calendars = new Map(tenants.map((row) => [row.slug, row]));
  // At the turn of a month they are all asked for at once, and most have one of a few calendars.
  const cut = new Map<string, TenantPeriod | undefined>();
  const cutFor = (tenant: CalendarRows, periodId: string): TenantPeriod | undefined => {
    const key = JSON.stringify([calendarsOf(tenant), periodId]);
    if (!cut.has(key)) cut.set(key, periodIn(tenant, periodId));
    return cut.get(key);
  };
  return [...pairs.values()].flatMap(({ tenant, periodId }) => {
    const period = cutFor(calendars.get(tenant) ?? NO_TENANT, periodId);
    return period
      ? [{ tenant, periodId, startAt: new Date(period.startMs), endAt: new Date(period.endMs), timezone: period.timezone, isTransition: period.isTransition }]
      : [];
  });
}
