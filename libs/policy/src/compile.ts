import type { CompiledPeriod, Policy, Segment } from '@quotaplane/contracts';
import { compileLimit, tierSourceOf } from './compile-limit';
import { compileQuota, extrasAt } from './compile-quota';
import { compileSubjects, subjectScopesOf, type CompiledSubjects } from './compile-subjects';
import { effectiveNumber } from './effective-number';
import { overridesAt, tierAt, versionAt } from './in-force';
import { areSameMoves, quotaMovesAt, type QuotaMoves } from './quota-moves';
import type { OverrideSource, PolicySource, QuotaExtra, TierSpan, VersionSource } from './source';
import { PolicySourceError } from './store-errors';

/** What a segment says apart from its time. */
type Rules = Omit<Segment, 'fromMs' | 'untilMs' | 'period'>;

/** What rules are made from; the same inputs give the same rules, so that a year of equal months is worked out once. */
interface Inputs {
  readonly tier: TierSpan;
  readonly version: VersionSource | undefined;
  readonly overrides: readonly OverrideSource[];
  readonly moves: QuotaMoves;
  readonly extras: readonly QuotaExtra[];
}

/** What of a segment the quotas of one instant are told by. */
export type QuotasAt = Pick<Segment, 'part' | 'tier' | 'tierVersion' | 'degraded' | 'quotas'>;

/**
 * The tenant's timeline (M2): contiguous segments, sorted, from the first period's start to the last period's end, neighbours never equal.
 * A boundary is whatever changes by itself: an override's or extra's start or end, a tier change, a version coming into force, a period's end.
 * A tier without a version in force gives a segment without limits, version 0 (the API refuses to assign such a tier). Pure.
 * @param subjects what `compileSubjects` makes of the same source; worked out when left out
 * @throws {PolicySourceError} without a tier or a period, or where the periods leave a hole
 */
export function compile(source: PolicySource, subjects: CompiledSubjects = compileSubjects(source)): Policy {
  const first = source.periods[0];
  const last = source.periods.at(-1);
  if (first === undefined || last === undefined) throw new PolicySourceError(`Tenant ${source.tenant} has no period to compile`);

  const bounds = boundariesOf(source).filter((atMs) => atMs > first.startMs && atMs < last.endMs);
  const segments: Segment[] = [];
  let before: { readonly inputs: Inputs; readonly rules: Rules; readonly text: string } | undefined;
  [first.startMs, ...bounds].forEach((fromMs, index) => {
    const untilMs = bounds[index] ?? last.endMs;
    const period = periodAt(source, fromMs);
    const inputs = inputsAt(source, period, fromMs);
    const rules = before !== undefined && areSame(before.inputs, inputs) ? before.rules : rulesOf(inputs);
    const text = before !== undefined && rules === before.rules ? before.text : JSON.stringify(rules);
    const neighbour = segments.at(-1);
    if (neighbour !== undefined && neighbour.period.startMs === period.startMs && text === before?.text) neighbour.untilMs = untilMs;
    else segments.push({ fromMs, untilMs, ...rules, period });
    before = { inputs, rules, text };
  });
  const subjectScopes = subjectScopesOf(subjects);
  return {
    v: 1, tenant: source.tenant, revision: source.revision, status: source.status, segments,
    ...(subjectScopes.length === 0 ? {} : { subjectScopes }),
  };
}

/**
 * The quotas of one instant, as the segment that holds it has them, without compiling the rest: for previews and the ledger. Pure.
 * @throws {PolicySourceError} without a tier, or where no period holds the instant
 */
export function quotasAt(source: PolicySource, atMs: number): QuotasAt {
  const { part, tier, tierVersion, degraded, quotas } = rulesOf(inputsAt(source, periodAt(source, atMs), atMs));
  return { part, tier, tierVersion, degraded, quotas };
}

/** Every instant at which something may change by itself, sorted, each once. */
function boundariesOf(source: PolicySource): number[] {
  const instants = [
    ...source.periods.map((period) => period.startMs),
    ...source.tiers.flatMap((span) => [span.fromMs, ...span.versions.map((version) => version.effectiveMs)]),
    ...source.overrides.flatMap((override) => [override.fromMs, override.untilMs]),
    ...(source.quotaChanges ?? []).map((change) => (change.isImmediate ? null : change.atMs)),
    ...(source.quotaExtras ?? []).flatMap((extra) => [extra.fromMs, extra.untilMs]),
  ];
  return [...new Set(instants.filter((atMs) => atMs !== null))].sort((left, right) => left - right);
}

function periodAt(source: PolicySource, atMs: number): CompiledPeriod {
  const period = source.periods.find(({ startMs, endMs }) => startMs <= atMs && atMs < endMs);
  if (period === undefined) throw new PolicySourceError(`The periods of tenant ${source.tenant} leave a hole at ${new Date(atMs).toISOString()}`);
  return { id: period.id, startMs: period.startMs, endMs: period.endMs };
}

function inputsAt(source: PolicySource, period: CompiledPeriod, atMs: number): Inputs {
  const tier = tierAt(source.tiers, atMs);
  if (tier === undefined) throw new PolicySourceError(`Tenant ${source.tenant} has no tier`);
  return {
    tier, version: versionAt(tier, atMs), overrides: overridesAt(source.overrides, atMs),
    moves: quotaMovesAt(source, period, atMs), extras: extrasAt(source.quotaExtras, atMs),
  };
}

function areSame(left: Inputs, right: Inputs): boolean {
  return left.tier === right.tier && left.version === right.version && areSameRows(left.overrides, right.overrides)
    && areSameRows(left.extras, right.extras) && areSameMoves(left.moves, right.moves);
}

const areSameRows = <Row>(left: readonly Row[], right: readonly Row[]): boolean =>
  left.length === right.length && left.every((row, index) => row === right[index]);

function rulesOf({ tier, version, overrides, moves, extras }: Inputs): Rules {
  const tierSource = tierSourceOf(tier, version);
  const concurrency = effectiveNumber({ value: version?.content.concurrency ?? null, source: tierSource }, overrides, ({ set }) => set.concurrency);
  return {
    tier: tier.slug,
    tierVersion: version?.number ?? 0,
    weight: tier.weight,
    degraded: version?.content.degraded ?? 'waive',
    limits: (version?.content.limits ?? []).map((limit) => compileLimit(limit, tierSource, overrides)),
    concurrency: { limit: concurrency.value, source: concurrency.source },
    quotas: (version?.content.quotas ?? []).map((quota) => compileQuota(quota, tierSource, overrides, moves, extras)),
    part: moves.part,
  };
}
