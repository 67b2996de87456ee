import type { Charge, QuotaCharge, RateCharge, RetryCharge, SlotCharge } from '@quotaplane/rate-limit';
import type { Call } from './call';
import type { CallPlan, PlannedQuota, PlannedRate } from './call-plan';
import { rateCharge } from './charge-kinds';
import { counterOf, quotaCounterOf, slotCounterOf, type CounterReference } from './counter-names';
import type { HeldSlot } from './held-slot';
import { retryChargeOf } from './idempotent-retry';

/** One thing that applies to this very call, with what the store is asked for it. */
export type Applied =
  | { readonly kind: 'rate'; readonly rate: PlannedRate; readonly charge: RateCharge; readonly partition: Buffer; readonly counted: CounterReference }
  | { readonly kind: 'quota'; readonly quota: PlannedQuota; readonly charge: QuotaCharge; readonly partition: Buffer }
  | { readonly kind: 'slot'; readonly charge: SlotCharge; readonly partition: Buffer }
  | { readonly kind: 'retry'; readonly charge: RetryCharge };

/**
 * Everything that applies to a call: its Idempotency-Key, rates, quotas, its slot.
 * @param held of a call that holds a slot
 */
export function appliedTo(plan: CallPlan, call: Call, generation: number, held?: HeldSlot): Applied[] {
  const applied: Applied[] = [];
  if (call.isExempt === true) return plan.quotas.map((quota) => meteredOnly(quotaApplied(plan, quota, call, generation)));
  if (call.idempotencyKey !== undefined) {
    const charge = retryChargeOf(call, call.idempotencyKey);
    if (charge) applied.push({ kind: 'retry', charge });
  }
  for (const rate of plan.rates) {
    const counted = counterOf(rate, call);
    if (!counted) continue;
    applied.push({ kind: 'rate', rate, charge: rateCharge(rate, counted, call.cost), partition: counted.partition, counted });
  }
  for (const quota of plan.quotas) applied.push(quotaApplied(plan, quota, call, generation));
  if (call.holdsSlot === true) {
    const slot = slotApplied(plan, call, generation, held);
    if (slot) applied.push(slot);
  }
  return applied;
}

export const chargesOf = (applied: readonly Applied[]): Charge[] => applied.map(({ charge }) => charge);

/** Undefined where the tier caps no calls in flight. */
function slotApplied(plan: CallPlan, call: Call, generation: number, held: HeldSlot | undefined): Applied | undefined {
  const { limit } = plan.segment.concurrency;
  if (limit === null) return undefined;
  const { counter, partition } = slotCounterOf(plan, call.tenant, generation);
  const charge: SlotCharge = { kind: 'slot', counter, limit, isRegenerated: generation > 1, cost: 1, ...(held ? { onLost: held.lose } : {}) };
  return { kind: 'slot', charge, partition };
}

type AppliedQuota = Extract<Applied, { kind: 'quota' }>;

function quotaApplied(plan: CallPlan, planned: PlannedQuota, call: Call, generation: number): AppliedQuota {
  const { segment } = plan;
  const { allowance, overage, throttle, ceiling } = planned.quota;
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
    charge: {
      kind: 'quota', counter, base, allowance, overage, periodEndMs: segment.period.endMs, cost: call.cost,
      ...(ceiling === undefined ? {} : { ceiling }),
      ...(lane ? { lane } : {}),
    },
  };
}

/** Counted without an end: what an allowed caller uses is billed, and denies nothing. */
function meteredOnly({ charge, ...applied }: AppliedQuota): AppliedQuota {
  const { lane: _lane, ceiling: _ceiling, ...counted } = charge;
  return { ...applied, charge: { ...counted, allowance: null } };
}
