import type { ClassCatalogue, CompiledLimit, CompiledQuota, PublicClass, PublicLimit, PublicQuota, PublicTier, Quota, Segment } from '@quotaplane/contracts';
import { durationInWords } from './in-words';
import { worstCaseUnits } from './worst-case';

/**
 * What a tier's consumers see of the segment that guards run. Nothing of the tier's rows but its name and support, and what goes over into the next period:
 * that is worked out when a period ends, and no segment says it.
 */
export function publicTierFrom(
  segment: Segment, tier: Pick<PublicTier, 'name' | 'support' | 'audience'> & { readonly quotas: readonly Pick<Quota, 'meter' | 'carry'>[] },
): PublicTier {
  return {
    slug: segment.tier,
    name: tier.name,
    support: tier.support,
    tierVersion: segment.tierVersion,
    audience: tier.audience,
    // A shadow limit denies nobody, so it is nobody's limit.
    limits: segment.limits.filter((limit) => limit.mode === 'enforce').map(publicLimitFrom),
    concurrency: segment.concurrency.limit,
    quotas: segment.quotas.map((quota) => publicQuotaFrom(quota, tier.quotas.find(({ meter }) => meter === quota.meter)?.carry?.cap)),
  };
}

function publicLimitFrom(compiled: CompiledLimit): PublicLimit {
  const { mode: _mode, sources: _sources, ...told } = compiled;
  return { ...told, ...windowOf(told.windowMs), worstCaseUnits: worstCaseUnits(compiled) };
}

function publicQuotaFrom({ meter, allowance, overage, throttle, ceiling }: CompiledQuota, carry: number | undefined): PublicQuota {
  // Names as in the response fields; the contract fixes them.
  const name = meter === 'requests' ? 'month' : `month-${meter}`;
  const lane = throttle && {
    name: `${name}-throttle`, limit: throttle.limit, ...windowOf(throttle.windowMs),
    worstCaseUnits: worstCaseUnits({ algorithm: 'token-bucket', limit: throttle.limit, burst: null }) ?? 0,
  };
  return {
    name, meter, allowance, overage, ...(lane ? { throttle: lane } : {}),
    ...(ceiling === undefined ? {} : { ceiling }), ...(carry === undefined || allowance === null ? {} : { carry }),
  };
}

/** Costs of the classes as guards run them, sorted by slug. What happens while the limiter is away is not the public's business. */
export function publicClassesFrom(catalogue: ClassCatalogue): PublicClass[] {
  return Object.entries(catalogue.classes)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([slug, { cost, meter, refundOn, retry }]) => ({
      slug, cost, meter, refundOn, ...(retry ? { retry: { cost: retry.cost, ...windowOf(retry.windowMs), max: retry.max } } : {}),
    }));
}

const windowOf = (windowMs: number): { windowMs: number; window: string } => ({ windowMs, window: durationInWords(windowMs) });
