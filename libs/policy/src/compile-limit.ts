import { MAX_EXACT, QUEUE_WAIT_MAX_MS, queueCapacity, type CompiledLimit, type Limit } from '@quotaplane/contracts';
import { effectiveLimit } from './effective-number';
import type { OverrideSource, TierSpan, VersionSource } from './source';

/** Where a number of the tier comes from. */
export const tierSourceOf = (tier: TierSpan, version: VersionSource | undefined): string => (version === undefined ? 'default' : `tier:${tier.slug}@${version.number}`);

/** One limit of a tier after the overrides that name it. @param overrides in force, the one that decides first */
export function compileLimit(tierLimit: Limit, tierSource: string, overrides: readonly OverrideSource[]): CompiledLimit {
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
    ...(tierLimit.algorithm === 'leaky-bucket' ? queueOf(tierLimit, limit.value) : {}),
    ...(tierLimit.penalty === undefined ? {} : { penalty: { ...tierLimit.penalty } }),
    mode: tierLimit.mode,
    sources: { limit: limit.source, burst: burst.source },
  };
}

/** A queue spelled out. One that the tier does not size follows the limit in force, so that a raise lets more wait, too. */
function queueOf(tierLimit: Limit, limit: number | null): Pick<CompiledLimit, 'maxQueue' | 'maxWaitMs'> {
  const largest = Math.floor(MAX_EXACT / tierLimit.windowMs) - 1;
  const maxQueue = Math.max(0, Math.min(queueCapacity(limit ?? 0, tierLimit.maxQueue) - 1, largest));
  return { maxQueue, maxWaitMs: tierLimit.maxWaitMs ?? Math.min(tierLimit.windowMs, QUEUE_WAIT_MAX_MS) };
}
