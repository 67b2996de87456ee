import { BUCKET_ALGORITHMS, isExactAmount, largestAmount, SLIDING_LOG_MAX, type Limit, type OverrideSet, type TierContent } from '@quotaplane/contracts';
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
  readonly kind: 'unknown-limit' | 'unknown-quota' | 'burst-on-window' | 'beyond-exact' | 'beyond-log';
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
  if (!BUCKET_ALGORITHMS.includes(limit.algorithm)) return windowMisfits(limit, numbers);
  if (isExactAmount(numbers.burst ?? numbers.limit ?? 0, limit.windowMs)) return [];
  const field = typeof numbers.burst === 'number' ? 'burst' : 'limit';
  return [{ kind: 'beyond-exact', path: ['limits', name, field], message: 'capacity x windowMs must not pass 2^53-1; use a smaller number' }];
}

/** Of windows, logs and queues: the same bounds that hold for a tier's own limit at save. */
function windowMisfits(limit: Limit, { limit: units, burst }: LimitNumbers): OverrideMisfit[] {
  if (burst !== undefined) {
    return [{ kind: 'burst-on-window', path: ['limits', limit.name, 'burst'], message: `burst belongs to ${BUCKET_ALGORITHMS.join(' and ')} only` }];
  }
  if (units === undefined || units === null) return [];
  const path = ['limits', limit.name, 'limit'];
  if (limit.algorithm === 'sliding-log' && units > SLIDING_LOG_MAX) {
    return [{ kind: 'beyond-log', path, message: `a sliding log keeps an entry per call: at most ${SLIDING_LOG_MAX}` }];
  }
  const [field, amount] = largestAmount({ algorithm: limit.algorithm, limit: units, maxQueue: limit.maxQueue });
  if (field !== 'limit' || amount === null || isExactAmount(amount, limit.windowMs)) return [];
  return [{ kind: 'beyond-exact', path, message: 'limit x windowMs must not pass 2^53-1; use a smaller number' }];
}

function contentAt(source: Pick<PolicySource, 'tiers'>, atMs: number): TierContent | undefined {
  const tier = tierAt(source.tiers, atMs);
  return tier === undefined ? undefined : versionAt(tier, atMs)?.content;
}
