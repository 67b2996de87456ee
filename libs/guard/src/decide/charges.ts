import type { Charge, RateCharge } from '@quotaplane/rate-limit';
import type { Call } from './call';
import { counterOf, quotaCounterOf, type CallPlan, type PlannedQuota, type PlannedRate } from './call-plan';

/** One limit that applies to this very call, with what the store is asked for it. */
export type Applied =
  | { readonly kind: 'rate'; readonly rate: PlannedRate; readonly charge: RateCharge; readonly partition: Buffer }
  | { readonly kind: 'quota'; readonly quota: PlannedQuota; readonly charge: Extract<Charge, { kind: 'quota' }>; readonly partition: Buffer };

/** Everything that applies to a call, in policy order: rates, then quotas. */
export function appliedTo(plan: CallPlan, call: Call, generation: number): Applied[] {
  const applied: Applied[] = [];
  for (const rate of plan.rates) {
    const reference = counterOf(rate, call);
    if (!reference) continue;
    applied.push({ kind: 'rate', rate, charge: rateCharge(rate, reference.counter, call.cost), partition: reference.partition });
  }
  for (const quota of plan.quotas) applied.push(quotaApplied(plan, quota, call, generation));
  return applied;
}

/** @param share part of the limit that is enforced; the identity where the store decides */
export function rateCharge(rate: PlannedRate, counter: string, cost: number, share: (units: number) => number = (units) => units): RateCharge {
  const { limit, windowMs, alignment } = rate.limit;
  const capacity = share(rate.capacity);
  const perWindow = capacity === 0 ? 0 : share(limit);
  if (rate.kind === 'window') return { kind: 'window', counter, limit: perWindow, windowMs, alignment: alignment ?? 'epoch', cost };
  return { kind: 'bucket', counter, limit: perWindow, windowMs, capacity: perWindow === 0 ? 0 : capacity, cost };
}

function quotaApplied(plan: CallPlan, planned: PlannedQuota, call: Call, generation: number): Applied {
  const { segment } = plan;
  const { allowance, overage, throttle } = planned.quota;
  const { counter, base, lane: laneCounter, partition } = quotaCounterOf(planned, segment, call.tenant, generation);
  const lane = throttle && {
    kind: 'bucket' as const,
    counter: laneCounter,
    limit: throttle.limit,
    windowMs: throttle.windowMs,
    capacity: throttle.limit,
    cost: call.cost,
  };
  return {
    kind: 'quota',
    quota: planned,
    partition,
    charge: { kind: 'quota', counter, base, allowance, overage, periodEndMs: segment.period.endMs, cost: call.cost, ...(lane ? { lane } : {}) },
  };
}
