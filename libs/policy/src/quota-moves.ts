import type { CompiledPeriod } from '@quotaplane/contracts';
import type { PolicySource, QuotaChange } from './source';

/** What the tier changes within a period make of its quotas at one instant. */
export interface QuotaMoves {
  /** 1 + the changes with usage `restart` inside the period up to then. */
  readonly part: number;
  /** The `prorate` changes since the period's start, or since the last change that did not prorate, oldest first. */
  readonly prorated: readonly QuotaChange[];
  /** The change before the first of `prorated`, whose allowances it ended; undefined where the source holds none. */
  readonly before: QuotaChange | undefined;
  readonly period: CompiledPeriod;
}

/**
 * Which changes count at `atMs`: those strictly inside its period. One exactly at the period's start moves nothing: part 1, full allowance.
 * One that was in force when written counts for all of its period, for a guard whose clock is behind the API's must not see it late.
 */
export function quotaMovesAt({ quotaChanges = [] }: Pick<PolicySource, 'quotaChanges'>, period: CompiledPeriod, atMs: number): QuotaMoves {
  let part = 1;
  let prorated: QuotaChange[] = [];
  let before: QuotaChange | undefined;
  let latest: QuotaChange | undefined;
  for (const change of quotaChanges) {
    if (change.atMs >= period.endMs || (change.atMs > atMs && !change.isImmediate)) continue;
    const isInside = change.atMs > period.startMs;
    if (isInside && change.usage === 'prorate') {
      if (prorated.length === 0) before = latest;
      prorated.push(change);
    } else {
      prorated = [];
    }
    if (isInside && change.usage === 'restart') part += 1;
    latest = change;
  }
  return { part, prorated, before: prorated.length === 0 ? undefined : before, period };
}

/** Whether two instants have the same numbers, given the same tier version. A change lies within one period, so that the same changes have the same one. */
export function areSameMoves(left: QuotaMoves, right: QuotaMoves): boolean {
  return left.part === right.part && left.before === right.before && left.prorated.length === right.prorated.length
    && left.prorated.every((change, index) => change === right.prorated[index]);
}

/**
 * The tier's allowance after the prorating changes: each allowance weighed by its stretch of the period, the first from the period's start and the
 * running one (`allowance`) up to its end, rounded down once. null among them, or a tier without the meter: the running number as it is.
 */
export function proratedAllowance(meter: string, allowance: number | null, { prorated, before, period }: QuotaMoves): number | null {
  if (prorated.length === 0 || allowance === null || before === undefined) return allowance;
  let fromMs = period.startMs;
  let ended = before;
  let weighed = 0n;
  for (const change of prorated) {
    const units = ended.quotas.find((quota) => quota.meter === meter)?.allowance ?? null;
    if (units === null) return allowance;
    weighed += BigInt(units) * BigInt(change.atMs - fromMs);
    fromMs = change.atMs;
    ended = change;
  }
  weighed += BigInt(allowance) * BigInt(period.endMs - fromMs);
  // At most the largest of the allowances, so that the way back is exact.
  return Number(weighed / BigInt(period.endMs - period.startMs));
}
