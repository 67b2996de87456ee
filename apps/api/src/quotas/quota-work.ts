import type { TenantPolicyRows } from '../outbox/policy-rows';
import { contentAt } from '../outbox/policy-source';
import { tenantPeriods } from '../tenants/tenant-calendar';
import { drawOf, isDrawable, leftAt } from './quota-extras';
import { grantEndMs, grantStartMs, type GrantRow } from './quota-rows';
import { periodsBetween, stretchesOf, type Stretch } from './stretches';

/** Work waits so long after its instant, for the last journals to be folded. */
export const SETTLE_MS = 3_000;
/** Grants that ended so long ago are settled: their last period is closed. */
const SETTLED_AFTER_MS = 100 * 86_400_000;
/** Carried units feed the next period's, so that a worker that was away works through them in order; further back nobody would be helped. */
const CARRY_PERIODS_BACK = 3;

/** Rows that must be written: of a part that has ended, or of a grant that ended within one. */
export interface QuotaTask {
  readonly kind: 'part-end' | 'grant-end';
  readonly atMs: number;
  readonly stretch: Stretch;
}

type Rows = Pick<TenantPolicyRows, 'assignments' | 'calendars' | 'quotas' | 'createdAt'>;

/** Every part of a tenant's periods that still matters, the running period's included, in order. */
export function partsUpTo({ assignments, calendars, quotas }: Rows, nowMs: number): Stretch[] {
  const [before, running] = tenantPeriods({ calendars }, { nowMs, before: 1, after: 0 });
  if (!before || !running) return [];
  const sinceMs = Math.min(before.startMs, ...quotas.grants.filter((grant) => grantEndMs(grant) > nowMs - SETTLED_AFTER_MS).map(grantStartMs));
  return stretchesOf(assignments, periodsBetween(calendars, sinceMs, running.endMs));
}

/** What is owed at an instant, oldest first; a later entry may depend on an earlier one's rows. */
export function owedTasks(rows: Rows, nowMs: number, parts: readonly Stretch[] = partsUpTo(rows, nowMs)): QuotaTask[] {
  const tasks = parts.flatMap((stretch): QuotaTask[] => [
    ...rows.quotas.grants.flatMap((grant) => owedByGrant(grant, stretch, parts, nowMs)),
    ...(stretch.endMs <= nowMs && owesCarry(rows, stretch, parts) ? [{ kind: 'part-end' as const, atMs: stretch.endMs, stretch }] : []),
  ]);
  return tasks.sort((a, b) => a.atMs - b.atMs);
}

function owedByGrant(grant: GrantRow, stretch: Stretch, parts: readonly Stretch[], nowMs: number): QuotaTask[] {
  if (!isDrawable(grant, stretch) || leftAt(grant, stretch, parts) === 0) return [];
  const draw = drawOf(grant, stretch);
  const endMs = grantEndMs(grant);
  if (endMs < stretch.endMs) return endMs <= nowMs && draw?.isFinal !== true ? [{ kind: 'grant-end', atMs: endMs, stretch }] : [];
  return stretch.endMs <= nowMs && draw === undefined ? [{ kind: 'part-end', atMs: stretch.endMs, stretch }] : [];
}

/** Whether a period that ended left units to carry that nobody has worked out. */
function owesCarry(rows: Rows, stretch: Stretch, parts: readonly Stretch[]): boolean {
  const { period } = stretch;
  if (stretch.endMs !== period.endMs || period.endMs <= rows.createdAt.getTime()) return false;
  const later = parts.filter(({ part, startMs }) => part === 1 && startMs >= period.endMs);
  const next = later[0]?.period;
  if (!next || later.length > CARRY_PERIODS_BACK) return false;
  return carryCaps(rows, period.endMs).some(({ meter }) => !rows.quotas.carries.some((row) => row.periodId === next.id && row.meter === meter));
}

/** Meters whose unused units a period that ends at an instant carries on, with their caps. */
export const carryCaps = (rows: Pick<Rows, 'assignments'>, endMs: number): { readonly meter: string; readonly cap: number }[] =>
  (contentAt(rows, new Date(endMs - 1))?.quotas ?? []).flatMap(({ meter, carry, allowance }) => (carry === undefined || allowance === null ? [] : [{ meter, cap: carry.cap }]));

/** When the quota numbers of a tenant change by themselves next, or had to; null where nothing does. Column `quota_due_at`. */
export function quotaDueMs(rows: Rows, nowMs: number): number | null {
  // Most tenants have nothing of the kind, and a tier of 10,000 of them is worked out at once.
  if (rows.quotas.grants.length === 0 && !rows.assignments.some(({ tier }) => carriesEver(tier))) return null;
  const parts = partsUpTo(rows, nowMs);
  const owed = owedTasks(rows, nowMs, parts)[0];
  if (owed) return owed.atMs + SETTLE_MS;
  const running = parts.findLast(({ startMs }) => startMs <= nowMs);
  if (!running) return null;
  const ends = rows.quotas.grants
    .filter((grant) => grantEndMs(grant) > nowMs && leftAt(grant, running, parts) !== 0)
    .map((grant) => Math.min(running.endMs, grantEndMs(grant)));
  const carries = carryCaps(rows, running.period.endMs).length > 0 ? [running.period.endMs] : [];
  const nextMs = Math.min(...ends, ...carries);
  return nextMs === Infinity ? null : nextMs + SETTLE_MS;
}

const carriesEver = (tier: Rows['assignments'][number]['tier']): boolean => tier.versions.some(({ content }) => content.quotas.some(({ carry }) => carry !== undefined));
