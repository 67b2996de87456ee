import { BUCKET_ALGORITHMS, MAX_EXACT, SLIDING_LOG_MAX, type Limit } from '@quotaplane/contracts';
import type { OverrideSource } from './source';

/** A compiled number and where it came from; null is unlimited, and the largest of all. */
export interface EffectiveNumber {
  readonly value: number | null;
  readonly source: string;
}

const larger = (left: number | null, right: number | null): boolean => right !== null && (left === null || left > right);
export const overrideNumberSource = (override: Pick<OverrideSource, 'id'>): string => `override:${override.id}`;

/**
 * The tier's number after the newest override that names it; older ones that name it too have no say.
 * `at-least` holds only where it is larger than the tier's, so an upgrade is never undone; `exactly` always holds.
 * @param overrides in force, newest first
 * @param numberOf what an override sets; undefined where it does not name this number
 */
export function effectiveNumber(
  base: EffectiveNumber,
  overrides: readonly OverrideSource[],
  numberOf: (override: OverrideSource) => number | null | undefined,
): EffectiveNumber {
  for (const override of overrides) {
    const value = numberOf(override);
    if (value === undefined) continue;
    const holds = override.mode === 'exactly' || larger(value, base.value);
    return holds ? { value, source: overrideNumberSource(override) } : base;
  }
  return base;
}

/**
 * Limit and capacity of one limit. A raised limit whose burst was left out (or is null) takes the capacity along; one that sets
 * the burst alone leaves the limit to the tier. A raise that an upgraded tier has overtaken leaves the tier's capacity too.
 */
export function effectiveLimit(tierLimit: Limit, tierSource: string, overrides: readonly OverrideSource[]): { limit: EffectiveNumber; burst: EffectiveNumber } {
  const entryOf = (override: OverrideSource): { limit?: number | null | undefined; burst?: number | null | undefined } | undefined => own(override.set.limits, tierLimit.name);
  const limit = largestFit(effectiveNumber({ value: tierLimit.limit, source: tierSource }, overrides, (override) => entryOf(override)?.limit), tierLimit);
  if (limit.value === null || !BUCKET_ALGORITHMS.includes(tierLimit.algorithm)) return { limit, burst: { value: null, source: limit.source } };

  const capacity: EffectiveNumber = { value: tierLimit.burst ?? tierLimit.limit, source: tierSource };
  const burst = effectiveNumber(capacity, overrides, (override) => {
    const entry = entryOf(override);
    if (typeof entry?.burst === 'number') return entry.burst;
    if (entry?.limit === undefined) return entry?.burst === null ? limit.value : undefined;
    // An at-least that the tier has overtaken changes nothing, its capacity neither.
    return override.mode === 'exactly' || larger(entry.limit, tierLimit.limit) ? entry.limit : capacity.value;
  });
  return { limit, burst: exactCapacity(burst, tierLimit, limit) };
}

/** As exactCapacity, for algorithms whose limit itself is bounded: a version published later may have changed the algorithm under an override. */
function largestFit(limit: EffectiveNumber, { algorithm, windowMs, maxQueue }: Limit): EffectiveNumber {
  const isMultiplied = algorithm === 'sliding-counter' || (algorithm === 'leaky-bucket' && maxQueue === undefined);
  const largest = algorithm === 'sliding-log' ? SLIDING_LOG_MAX : isMultiplied ? Math.floor(MAX_EXACT / windowMs) : null;
  return largest === null || limit.value === null ? limit : { value: Math.min(limit.value, largest), source: limit.source };
}

/**
 * Last line of defence: save refuses what does not fit (overrideFits), but a tier version published later may widen the window below an
 * override. The largest exact capacity then stands in (M4). An unlimited tier capacity under a finite override follows its limit.
 */
function exactCapacity(burst: EffectiveNumber, tierLimit: Limit, limit: EffectiveNumber): EffectiveNumber {
  const value = burst.value ?? limit.value ?? 0;
  const source = burst.value === null ? limit.source : burst.source;
  return { value: Math.min(value, Math.floor(MAX_EXACT / tierLimit.windowMs)), source };
}

/** Reads a record by a caller's name without finding `constructor` and the like. */
export function own<Value>(record: Readonly<Record<string, Value>> | undefined, name: string): Value | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}
