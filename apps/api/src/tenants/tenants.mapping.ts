import type { Tenant, TenantStatus } from '@quotaplane/contracts';
import type { TenantRow, TierAssignmentRow } from '../database/rows';
import { calendarsOf, shownCalendarChange, WITH_CALENDARS, type CalendarRows } from './tenant-calendar';

export type AssignedTenant = TenantRow & CalendarRows & { readonly assignments: readonly (TierAssignmentRow & { readonly tier: { readonly slug: string } })[] };

/** What an answer needs of it, whichever way it was read. */
export type ShownTenant = CalendarRows & Pick<TenantRow, 'slug' | 'name' | 'status' | 'version' | 'createdAt' | 'updatedAt' | 'reserved'> & {
  readonly assignments: readonly { readonly effectiveAt: Date; readonly tier: { readonly slug: string } }[];
};

/** What a tenant's answer is made of beside its row. */
export const WITH_ASSIGNMENTS = { ...WITH_CALENDARS, assignments: { include: { tier: { select: { slug: true } } }, orderBy: { effectiveAt: 'asc' } } } as const;

/** Tier in force and the next one, by the clock. */
export const tiersOf = <A extends { readonly effectiveAt: Date }>({ assignments }: { readonly assignments: readonly A[] }, now: Date) => {
  const inForce = assignments.findLast(({ effectiveAt }) => effectiveAt <= now) ?? assignments[0];
  const next = assignments.find((row) => row !== inForce && row.effectiveAt > now);
  return { inForce, next };
};

export const tenantFromRow = (row: ShownTenant, now: Date): Tenant => {
  const { inForce, next } = tiersOf(row, now);
  return {
    slug: row.slug,
    name: row.name,
    tier: inForce?.tier.slug ?? '',
    timezone: row.timezone,
    anchorDay: row.anchorDay,
    status: row.status as TenantStatus,
    version: row.version,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    reserved: row.reserved,
    scheduledTier: next ? { tier: next.tier.slug, effectiveAt: next.effectiveAt.toISOString() } : null,
    calendarChange: shownCalendarChange(calendarsOf(row), now.getTime()),
  };
};
