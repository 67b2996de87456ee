import type { CompiledPeriod, OverrideMode, OverrideSet, TenantStatus, TierContent } from '@quotaplane/contracts';
import type { OverrideSource, PolicySource, TierSpan, VersionSource } from '@quotaplane/policy';

/** Rows a policy is made of, already parsed; whoever reads them decides under which lock. */
export interface PolicyRows {
  readonly tenant: string;
  readonly status: TenantStatus;
  readonly revision: number;
  readonly assignments: readonly AssignmentRow[];
  readonly overrides: readonly OverrideRow[];
  /** Of single subjects, by field of the tenant's hash; left out where nobody publishes them. */
  readonly subjects?: ReadonlyMap<string, readonly OverrideRow[]>;
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

const versionsOf = (tier: TierRow): VersionSource[] =>
  inForceAndLater(tier.versions.map((version) => ({ ...version, at: version.effectiveAt, writtenAt: version.publishedAt })))
    .map(({ number, content, startMs }) => ({ number, content, effectiveMs: startMs }));

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
  periods,
});

const latestAt = <T>(entries: readonly T[], at: (entry: T) => Date, instant: Date): T | undefined =>
  entries.filter((entry) => at(entry) <= instant).sort((a, b) => at(b).getTime() - at(a).getTime())[0];

/** The state as it stood at one instant, for looking back: what an ended period was allowed. Undefined where no tier was in force. */
export const policySourceAt = (rows: PolicyRows, period: CompiledPeriod, instant: Date): PolicySource | undefined => {
  const assignment = latestAt(rows.assignments, (row) => row.effectiveAt, instant) ?? rows.assignments[0];
  const version = assignment && (latestAt(assignment.tier.versions, (row) => row.effectiveAt, instant) ?? assignment.tier.versions[0]);
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
    periods: [period],
  };
};
