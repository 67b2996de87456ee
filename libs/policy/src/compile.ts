import type { CompiledLimit, CompiledQuota, Limit, Policy, Quota, Segment } from '@quotaplane/contracts';
import { effectiveLimit, effectiveNumber, own } from './effective-number';
import { overridesAt, tierAt, versionAt } from './in-force';
import type { OverrideSource, PolicySource } from './source';
import { PolicySourceError } from './store-errors';

type Stretch = Omit<Segment, 'fromMs' | 'untilMs'>;

/**
 * The tenant's timeline (M2): contiguous segments, sorted, from the first period's start to the last period's end, neighbours never equal.
 * A boundary is whatever changes by itself: an override's start or end, a tier change, a version coming into force, a period's end.
 * A tier without a version in force gives a segment without limits, version 0 (the API refuses to assign such a tier). Pure.
 * @throws {PolicySourceError} without a tier or a period
 */
export function compile(source: PolicySource): Policy {
  const first = source.periods[0];
  const last = source.periods.at(-1);
  if (first === undefined || last === undefined) throw new PolicySourceError(`Tenant ${source.tenant} has no period to compile`);

  const bounds = boundariesOf(source).filter((atMs) => atMs > first.startMs && atMs < last.endMs);
  const segments: Segment[] = [];
  let previous = '';
  const starts = [first.startMs, ...bounds];
  starts.forEach((fromMs, index) => {
    const untilMs = starts[index + 1] ?? last.endMs;
    const stretch = stretchAt(source, fromMs);
    const text = JSON.stringify(stretch);
    const before = segments.at(-1);
    if (before !== undefined && text === previous) segments[segments.length - 1] = { ...before, untilMs };
    else segments.push({ fromMs, untilMs, ...stretch });
    previous = text;
  });
  return { v: 1, tenant: source.tenant, revision: source.revision, status: source.status, segments };
}

/** Every instant at which something may change by itself, sorted, each once. */
function boundariesOf(source: PolicySource): number[] {
  const instants = [
    ...source.periods.map((period) => period.startMs),
    ...source.tiers.flatMap((span) => [span.fromMs, ...span.versions.map((version) => version.effectiveMs)]),
    ...source.overrides.flatMap((override) => [override.fromMs, override.untilMs]),
  ];
  return [...new Set(instants.filter((atMs) => atMs !== null))].sort((left, right) => left - right);
}

function stretchAt(source: PolicySource, atMs: number): Stretch {
  const tier = tierAt(source.tiers, atMs);
  if (tier === undefined) throw new PolicySourceError(`Tenant ${source.tenant} has no tier`);
  const period = source.periods.find(({ startMs, endMs }) => startMs <= atMs && atMs < endMs);
  if (period === undefined) throw new PolicySourceError(`The periods of tenant ${source.tenant} leave a hole at ${new Date(atMs).toISOString()}`);

  const version = versionAt(tier, atMs);
  const tierSource = version === undefined ? 'default' : `tier:${tier.slug}@${version.number}`;
  const overrides = overridesAt(source.overrides, atMs);
  const concurrency = effectiveNumber({ value: version?.content.concurrency ?? null, source: tierSource }, overrides, ({ set }) => set.concurrency);
  return {
    tier: tier.slug,
    tierVersion: version?.number ?? 0,
    weight: tier.weight,
    degraded: version?.content.degraded ?? 'waive',
    limits: (version?.content.limits ?? []).map((limit) => compileLimit(limit, tierSource, overrides)),
    concurrency: { limit: concurrency.value, source: concurrency.source },
    quotas: (version?.content.quotas ?? []).map((quota) => compileQuota(quota, tierSource, overrides)),
    period: { id: period.id, startMs: period.startMs, endMs: period.endMs },
    part: 1,
  };
}

function compileLimit(tierLimit: Limit, tierSource: string, overrides: readonly OverrideSource[]): CompiledLimit {
  const { limit, burst } = effectiveLimit(tierLimit, tierSource, overrides);
  return {
    name: tierLimit.name,
    algorithm: tierLimit.algorithm,
    scope: tierLimit.scope,
    limit: limit.value,
    windowMs: tierLimit.windowMs,
    burst: burst.value,
    ...(tierLimit.alignment === undefined ? {} : { alignment: tierLimit.alignment }),
    ...(tierLimit.endpointClass === undefined ? {} : { endpointClass: tierLimit.endpointClass }),
    ...(tierLimit.methods === undefined ? {} : { methods: [...tierLimit.methods] }),
    ...(tierLimit.perRoute === undefined ? {} : { perRoute: tierLimit.perRoute }),
    mode: tierLimit.mode,
    sources: { limit: limit.source, burst: burst.source },
  };
}

function compileQuota(quota: Quota, tierSource: string, overrides: readonly OverrideSource[]): CompiledQuota {
  const allowed = effectiveNumber({ value: quota.allowance, source: tierSource }, overrides, ({ set }) => own(set.quotas, quota.meter)?.allowance);
  return {
    meter: quota.meter,
    allowance: allowed.value,
    overage: quota.overage,
    ...(quota.throttle === undefined ? {} : { throttle: { ...quota.throttle } }),
    sources: { allowance: allowed.source },
  };
}
