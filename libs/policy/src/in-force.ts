import type { OverrideSource, TierSpan, VersionSource } from './source';

const startOf = (fromMs: number | null): number => fromMs ?? Number.NEGATIVE_INFINITY;

/** Greatest start <= atMs; of rows with the same start the later one. */
function latest<Row>(rows: readonly Row[], fromOf: (row: Row) => number | null, atMs: number): Row | undefined {
  let found: Row | undefined;
  for (const row of rows) {
    const fromMs = startOf(fromOf(row));
    if (fromMs <= atMs && (found === undefined || fromMs >= startOf(fromOf(found)))) found = row;
  }
  return found;
}

/** The tier at an instant. Before the first row the first one holds: there was no other tier to speak of. */
export function tierAt(tiers: readonly TierSpan[], atMs: number): TierSpan | undefined {
  return latest(tiers, (span) => span.fromMs, atMs) ?? tiers[0];
}

/** The version of a tier at an instant; undefined while none is in force, which leaves the tenant without limits. */
export function versionAt(tier: TierSpan, atMs: number): VersionSource | undefined {
  return latest(tier.versions, (version) => version.effectiveMs, atMs);
}

export function isInForce(override: OverrideSource, atMs: number): boolean {
  return startOf(override.fromMs) <= atMs && (override.untilMs === null || atMs < override.untilMs);
}

/** Overrides in force, newest first; of the same millisecond `exactly` goes before `at-least`, then the greater id. */
export function overridesAt(overrides: readonly OverrideSource[], atMs: number): readonly OverrideSource[] {
  return overrides.filter((override) => isInForce(override, atMs)).sort(newestFirst);
}

function newestFirst(left: OverrideSource, right: OverrideSource): number {
  if (left.createdMs !== right.createdMs) return right.createdMs - left.createdMs;
  if (left.mode !== right.mode) return left.mode === 'exactly' ? -1 : 1;
  return left.id < right.id ? 1 : -1;
}
