import { MAX_EXACT, type CompiledQuota, type Quota } from '@quotaplane/contracts';
import { effectiveNumber, own } from './effective-number';
import { proratedAllowance, type QuotaMoves } from './quota-moves';
import type { OverrideSource, QuotaExtra } from './source';

/** Extras in force, in the source's order. */
export function extrasAt(extras: readonly QuotaExtra[] | undefined, atMs: number): readonly QuotaExtra[] {
  if (extras === undefined || extras.length === 0) return NONE;
  return extras.filter(({ fromMs, untilMs }) => (fromMs === null || fromMs <= atMs) && (untilMs === null || atMs < untilMs));
}
const NONE: readonly QuotaExtra[] = [];

/**
 * One quota of a tier: the tier's number, prorated, then the overrides that name it, then the extras on top. Unlimited stays unlimited.
 * The ceiling moves up by the extras and is never below the allowance, which an override may have raised past it; a sum past 2^53-1 ends there.
 */
export function compileQuota(
  quota: Quota, tierSource: string, overrides: readonly OverrideSource[], moves: QuotaMoves, extras: readonly QuotaExtra[],
): CompiledQuota {
  const base = { value: proratedAllowance(quota.meter, quota.allowance, moves), source: tierSource };
  const allowed = effectiveNumber(base, overrides, ({ set }) => own(set.quotas, quota.meter)?.allowance);
  const added = allowed.value === null ? [] : extras.filter(({ meter, units }) => meter === quota.meter && units > 0);
  const units = added.reduce((sum, extra) => exactSum(sum, extra.units), 0);
  const allowance = allowed.value === null ? null : exactSum(allowed.value, units);
  return {
    meter: quota.meter,
    allowance,
    overage: quota.overage,
    ...(quota.throttle === undefined ? {} : { throttle: { ...quota.throttle } }),
    ...(quota.ceiling === undefined || allowance === null ? {} : { ceiling: Math.max(allowance, exactSum(quota.ceiling, units)) }),
    ...(added.length === 0 ? {} : { extras: added.map((extra) => ({ source: extra.source, units: extra.units })) }),
    sources: { allowance: allowed.source },
  };
}

const exactSum = (left: number, right: number): number => Math.min(MAX_EXACT, left + right);
