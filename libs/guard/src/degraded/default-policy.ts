import type { CompiledLimit, Policy } from '@quotaplane/contracts';
import type { DefaultLimit } from '../options';

/** Tier name of decisions made before any policy was seen. */
export const DEFAULT_TIER = 'default';

/** The policy of a node that has never seen one: the service's own default limits, one segment without end, no quota. */
export function defaultPolicy(limits: readonly DefaultLimit[]): Policy {
  const sources = { limit: 'default', burst: 'default' };
  const compiled = limits.map(
    ({ name, limit, windowMs, burst }): CompiledLimit => ({
      name, limit, windowMs, burst: burst ?? limit, algorithm: 'token-bucket', scope: 'tenant', mode: 'enforce', sources,
    }),
  );
  const untilMs = Number.MAX_SAFE_INTEGER;
  return {
    v: 1,
    tenant: DEFAULT_TIER,
    revision: 1,
    status: 'active',
    segments: [{
      fromMs: 0, untilMs, tier: DEFAULT_TIER, tierVersion: 0, weight: 0, degraded: 'waive', limits: compiled,
      concurrency: { limit: null, source: 'default' }, quotas: [], period: { id: '1970-01-01', startMs: 0, endMs: untilMs }, part: 1,
    }],
  };
}
