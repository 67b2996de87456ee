import { changedCalendars } from '@quotaplane/usage';
import type { Tx } from '../database/prisma.service';
import { calendarsOf } from './tenant-calendar';
import type { AssignedTenant } from './tenants.mapping';

/**
 * Sets zone and anchor day from the end of the running period on; what was still to come is replaced. The rows are the whole timeline, so that what
 * has been judged and billed keeps its periods.
 */
export async function changeCalendar(
  tx: Tx, row: AssignedTenant, wanted: { readonly timezone?: string | undefined; readonly anchorDay?: number | undefined }, { at, by }: { readonly at: Date; readonly by: string },
): Promise<void> {
  const before = calendarsOf(row);
  const after = changedCalendars(before, { timezone: wanted.timezone ?? row.timezone, anchorDay: wanted.anchorDay ?? row.anchorDay }, at.getTime());
  await tx.tenantCalendar.deleteMany({ where: { tenantId: row.id, fromAt: { gt: at } } });
  const known = new Set(row.calendars.map(({ fromAt }) => fromAt.getTime()));
  // Of a calendar that was never changed there is no row yet: since ever is since the tenant began.
  const startOf = (fromMs: number | null): Date => (fromMs === null ? firstInstant(row) : new Date(fromMs));
  const rows = after.map(({ timezone, anchorDay, fromMs }) => ({ tenantId: row.id, fromAt: startOf(fromMs), timezone, anchorDay, createdAt: at, createdBy: by }));
  const isUnchanged = row.calendars.length === 0 && rows.length === 1;
  await tx.tenantCalendar.createMany({ data: isUnchanged ? [] : rows.filter(({ fromAt }) => !known.has(fromAt.getTime()) || fromAt > at) });
}

const firstInstant = ({ calendars, createdAt }: Pick<AssignedTenant, 'calendars' | 'createdAt'>): Date =>
  calendars.reduce((first, { fromAt }) => (fromAt < first ? fromAt : first), createdAt);
