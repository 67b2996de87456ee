import type { CompiledPeriod, OverrideMode, OverrideSet, TenantStatus, TierContent } from '@quotaplane/contracts';
import type { OverrideSource, PolicySource, QuotaChange, QuotaExtra, TierSpan, UsageTransfer, VersionSource } from '@quotaplane/policy';
import { quotaExtrasOf } from '../quotas/quota-extras';
import type { QuotaRows } from '../quotas/quota-rows';

/** Rows a policy is made of, already parsed; whoever reads them decides under which lock. */
export interface PolicyRows {
  readonly tenant: string;
  readonly status: TenantStatus;
  readonly revision: number;
  readonly assignments: readonly AssignmentRow[];
  readonly overrides: readonly OverrideRow[];
  /** Of single subjects, by field of the tenant's hash; left out where nobody publishes them. */
  readonly subjects?: ReadonlyMap<string, readonly OverrideRow[]>;
  /** What comes on top of the allowances; left out where nothing can. */
  readonly quotas?: QuotaRows;
}

export interface VersionRow {
  readonly number: number;
  readonly content: TierContent;
  readonly effectiveAt: Date;
  readonly publishedAt: Date;
}

export interface TierRow {
  readonly slug: string;
  readonly weight: number;
  readonly versions: readonly VersionRow[];
}

export interface AssignmentRow {
  readonly effectiveAt: Date;
  readonly createdAt: Date;
  /** What the change does with usage in mid-period. */
  readonly usage: UsageTransfer;
  readonly tier: TierRow;
}

export interface OverrideRow {
  readonly id: string;
  readonly mode: OverrideMode;
  readonly set: OverrideSet;
  readonly from: Date;
  readonly until: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** One entry of a timeline: in force from `at` on, written at `writtenAt`. */
interface Dated {
  readonly at: Date;
  readonly writtenAt: Date;
}

/**
 * What of a timeline still matters, oldest first: the newest entry that was in force when written, and what came or comes after it.
 * An older entry must not come back because its instant is named and the other's is not.
 */
const inForceAndLater = <T extends Dated>(entries: readonly T[]): readonly (T & { readonly startMs: number | null })[] => {
  const sorted = [...entries].sort((a, b) => a.at.getTime() - b.at.getTime() || a.writtenAt.getTime() - b.writtenAt.getTime());
  const isImmediate = (entry: T): boolean => entry.at.getTime() <= entry.writtenAt.getTime();
  const newest = sorted.findLastIndex(isImmediate);
  return sorted.slice(Math.max(newest, 0)).map((entry) => ({ ...entry, startMs: isImmediate(entry) ? null : entry.at.getTime() }));
};

/** Tenants of a page share their tier's row, and with it what is worked out of it. */
const knownVersions = new WeakMap<TierRow, readonly VersionSource[]>();

function versionsOf(tier: TierRow): readonly VersionSource[] {
  const known = knownVersions.get(tier);
  if (known) return known;
  const versions = inForceAndLater(tier.versions.map((version) => ({ ...version, at: version.effectiveAt, writtenAt: version.publishedAt })))
    .map(({ number, content, startMs }) => ({ number, content, effectiveMs: startMs }));
  knownVersions.set(tier, versions);
  return versions;
}

const overrideOf = (row: OverrideRow): OverrideSource => ({
  id: row.id,
  mode: row.mode,
  set: row.set,
  // In force at its last write by the API's clock: the store's clock, which may be behind, must not delay it.
  fromMs: row.from.getTime() <= row.updatedAt.getTime() ? null : row.from.getTime(),
  untilMs: row.until?.getTime() ?? null,
  createdMs: row.createdAt.getTime(),
});

/** The current state as the compiler takes it. */
export const policySourceOf = (rows: PolicyRows, periods: readonly CompiledPeriod[]): PolicySource => ({
  tenant: rows.tenant,
  status: rows.status,
  revision: rows.revision,
  tiers: inForceAndLater(rows.assignments.map((row) => ({ ...row, at: row.effectiveAt, writtenAt: row.createdAt })))
    .map(({ tier, startMs }): TierSpan => ({ fromMs: startMs, slug: tier.slug, weight: tier.weight, versions: versionsOf(tier) })),
  overrides: rows.overrides.map(overrideOf),
  ...(rows.subjects && rows.subjects.size > 0 ? { subjects: new Map([...rows.subjects].map(([field, overrides]) => [field, overrides.map(overrideOf)])) } : {}),
  ...quotasOf(rows, rows.assignments, periods, { isLookingBack: false }),
  periods,
});

/** Tier changes that move quotas, and what comes on top of allowances; absent where there is none. */
function quotasOf(
  { quotas }: Pick<PolicyRows, 'quotas'>, assignments: readonly AssignmentRow[], periods: readonly CompiledPeriod[], { isLookingBack }: { readonly isLookingBack: boolean },
): Pick<PolicySource, 'quotaChanges' | 'quotaExtras'> {
  const changes = quotaChangesOf(assignments, periods[0]?.startMs ?? 0, isLookingBack);
  const extras: QuotaExtra[] = quotas === undefined ? [] : quotaExtrasOf({ quotas, assignments, periods, isLookingBack });
  return { ...(changes.length > 0 ? { quotaChanges: changes } : {}), ...(extras.length > 0 ? { quotaExtras: extras } : {}) };
}

/** Moves since the first period's start and the one before them. Allowances are those in force at the end of each move's reign, for that is what was enforced. */
function quotaChangesOf(assignments: readonly AssignmentRow[], sinceMs: number, isLookingBack: boolean): QuotaChange[] {
  const sorted = [...assignments].sort((a, b) => a.effectiveAt.getTime() - b.effectiveAt.getTime());
  const first = Math.max(0, sorted.findLastIndex(({ effectiveAt }) => effectiveAt.getTime() <= sinceMs));
  const moves = sorted.slice(first);
  if (!moves.some(({ usage, effectiveAt }) => usage !== 'carry' && effectiveAt.getTime() > sinceMs)) return [];
  return moves.map((move, index): QuotaChange => {
    const nextMs = moves[index + 1]?.effectiveAt.getTime();
    const content = versionIn(move.tier, nextMs === undefined ? move.effectiveAt : new Date(nextMs - 1))?.content;
    return {
      atMs: move.effectiveAt.getTime(),
      isImmediate: !isLookingBack && move.effectiveAt <= move.createdAt,
      usage: move.usage,
      quotas: (content?.quotas ?? []).map(({ meter, allowance }) => ({ meter, allowance })),
    };
  });
}

const latestAt = <T>(entries: readonly T[], at: (entry: T) => Date, instant: Date): T | undefined =>
  entries.filter((entry) => at(entry) <= instant).sort((a, b) => at(b).getTime() - at(a).getTime())[0];

const versionIn = (tier: TierRow, instant: Date): VersionRow | undefined => latestAt(tier.versions, (row) => row.effectiveAt, instant) ?? tier.versions[0];

/** Content of the tier that was in force at an instant. Undefined where none was. */
export const contentAt = ({ assignments }: Pick<PolicyRows, 'assignments'>, instant: Date): TierContent | undefined => {
  const assignment = latestAt(assignments, (row) => row.effectiveAt, instant) ?? assignments[0];
  return assignment && versionIn(assignment.tier, instant)?.content;
};

/** The state as it stood at one instant, for looking back: what an ended period was allowed. Undefined where no tier was in force. */
export const policySourceAt = (rows: PolicyRows, period: CompiledPeriod, instant: Date): PolicySource | undefined => {
  const assignment = latestAt(rows.assignments, (row) => row.effectiveAt, instant) ?? rows.assignments[0];
  const version = assignment && versionIn(assignment.tier, instant);
  if (!assignment || !version) return undefined;
  const { slug, weight } = assignment.tier;
  return {
    tenant: rows.tenant,
    status: rows.status,
    revision: Math.max(rows.revision, 1),
    tiers: [{ fromMs: null, slug, weight, versions: [{ number: version.number, content: version.content, effectiveMs: null }] }],
    overrides: rows.overrides
      .filter((row) => row.from <= instant && (row.until === null || row.until > instant))
      .map((row) => ({ ...overrideOf(row), fromMs: null, untilMs: null })),
    ...quotasOf(rows, rows.assignments.filter(({ effectiveAt }) => effectiveAt <= instant), [period], { isLookingBack: true }),
    periods: [period],
  };
};
