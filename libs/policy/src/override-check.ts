import { BUCKET_ALGORITHMS, MAX_EXACT, type OverrideSet, type TierContent } from '@quotaplane/contracts';
import { tierAt, versionAt } from './in-force';
import type { PolicySource } from './source';

/** What one override names that the tier in force lacks; shown, never an error, for a tier change may leave it behind. */
export interface Dangling {
  readonly overrideId: string;
  readonly limits: readonly string[];
  /** Meters. */
  readonly quotas: readonly string[];
}

/** Why an override cannot be saved: 422, with `path` inside the override's `set` for the pointer. */
export interface OverrideMisfit {
  readonly kind: 'unknown-limit' | 'unknown-quota' | 'burst-on-window' | 'beyond-exact';
  readonly path: readonly string[];
  readonly message: string;
}

/** Overrides in force at `atMs` or to come that name what their tier lacks: the tier at `atMs`, or at their own start when that is later. */
export function danglingLimits(source: Pick<PolicySource, 'tiers' | 'overrides'>, atMs: number): readonly Dangling[] {
  return source.overrides.flatMap((override) => {
    if (override.untilMs !== null && override.untilMs <= atMs) return [];
    const content = contentAt(source, Math.max(atMs, override.fromMs ?? atMs));
    const limits = Object.keys(override.set.limits ?? {}).filter((name) => !content?.limits.some((limit) => limit.name === name));
    const quotas = Object.keys(override.set.quotas ?? {}).filter((meter) => !content?.quotas.some((quota) => quota.meter === meter));
    return limits.length + quotas.length > 0 ? [{ overrideId: override.id, limits, quotas }] : [];
  });
}

/** What keeps an override from being saved against this tier content; empty when it fits. M4: a full bucket's debt stays exact. */
export function overrideFits(set: OverrideSet, content: Pick<TierContent, 'limits' | 'quotas'>): readonly OverrideMisfit[] {
  const ofLimits = Object.entries(set.limits ?? {}).flatMap(([name, numbers]) => limitMisfits(name, numbers, content));
  const ofQuotas = Object.keys(set.quotas ?? {})
    .filter((meter) => !content.quotas.some((quota) => quota.meter === meter))
    .map((meter): OverrideMisfit => ({ kind: 'unknown-quota', path: ['quotas', meter], message: `the tenant's tier has no quota for meter ${meter}` }));
  return [...ofLimits, ...ofQuotas];
}

type LimitNumbers = NonNullable<OverrideSet['limits']>[string];

function limitMisfits(name: string, numbers: LimitNumbers, content: Pick<TierContent, 'limits'>): OverrideMisfit[] {
  const limit = content.limits.find((candidate) => candidate.name === name);
  if (limit === undefined) return [{ kind: 'unknown-limit', path: ['limits', name], message: `the tenant's tier has no limit named ${name}` }];
  if (!BUCKET_ALGORITHMS.includes(limit.algorithm)) {
    if (numbers.burst === undefined) return [];
    return [{ kind: 'burst-on-window', path: ['limits', name, 'burst'], message: `burst belongs to ${BUCKET_ALGORITHMS.join(' and ')} only` }];
  }
  const capacity = numbers.burst ?? numbers.limit ?? 0;
  if (BigInt(capacity) * BigInt(limit.windowMs) <= BigInt(MAX_EXACT)) return [];
  const field = typeof numbers.burst === 'number' ? 'burst' : 'limit';
  return [{ kind: 'beyond-exact', path: ['limits', name, field], message: 'capacity x windowMs must not pass 2^53-1; use a smaller number' }];
}

function contentAt(source: Pick<PolicySource, 'tiers'>, atMs: number): TierContent | undefined {
  const tier = tierAt(source.tiers, atMs);
  return tier === undefined ? undefined : versionAt(tier, atMs)?.content;
}
