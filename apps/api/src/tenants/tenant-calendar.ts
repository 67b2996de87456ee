import { calendarChangeOf, periodsOf, type Calendar, type TenantPeriod } from '@quotaplane/usage';
import type { Tenant } from '@quotaplane/contracts';

/** Rows that a tenant's periods are cut by. */
export interface CalendarRows {
  readonly timezone: string;
  readonly anchorDay: number;
  readonly calendars: readonly { readonly fromAt: Date; readonly timezone: string; readonly anchorDay: number }[];
}

/** For reading {@link CalendarRows} with Prisma. */
export const WITH_CALENDARS = { calendars: true } as const;

/** The timeline of calendars, the first in force since ever; of a tenant whose calendar was never changed its own row's alone. */
export const calendarsOf = ({ timezone, anchorDay, calendars }: CalendarRows): readonly Calendar[] => {
  if (calendars.length === 0) return [{ timezone, anchorDay, fromMs: null }];
  return [...calendars].sort((a, b) => a.fromAt.getTime() - b.fromAt.getTime())
    .map((row, index) => ({ timezone: row.timezone, anchorDay: row.anchorDay, fromMs: index === 0 ? null : row.fromAt.getTime() }));
};

/** Who has calendars, whichever way they were read. */
export interface HasCalendars {
  readonly calendars: readonly Calendar[];
}

/** A tenant's billing periods around an instant, across every change of its calendar: the one way to them in the API. */
export const tenantPeriods = ({ calendars }: HasCalendars, around: { readonly nowMs: number; readonly before: number; readonly after: number }): TenantPeriod[] =>
  periodsOf({ calendars, ...around });

/** The one period around an instant. */
export const tenantPeriodAt = (tenant: HasCalendars, nowMs: number): TenantPeriod => {
  const [period] = tenantPeriods(tenant, { nowMs, before: 0, after: 0 });
  if (!period) throw new RangeError(`no period at ${nowMs}`);
  return period;
};

/** A change of calendar as a tenant is told of it. */
export const shownCalendarChange = (calendars: readonly Calendar[], nowMs: number): Tenant['calendarChange'] => {
  const change = calendarChangeOf(calendars, nowMs);
  if (change === null) return null;
  const { id, startMs, endMs } = change.transition;
  return {
    effectiveAt: new Date(change.effectiveAtMs).toISOString(),
    from: change.from,
    transition: { id, start: new Date(startMs).toISOString(), end: new Date(endMs).toISOString() },
  };
};
