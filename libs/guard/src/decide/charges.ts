import type { Charge, QuotaCharge, RateCharge, RetryCharge, SlotCharge } from '@quotaplane/rate-limit';
import type { Call } from './call';
import type { CallPlan, PlannedQuota, PlannedRate } from './call-plan';
import { CallShapes, type CallShape } from './call-shape';
import { rateCharge } from './charge-kinds';
import { counterOf, quotaCounterOf, slotCounterOf, type CounterReference, type QuotaReference } from './counter-names';
import type { HeldSlot } from './held-slot';
import { retryChargeOf } from './idempotent-retry';

/** One thing that applies to this very call, with what the store is asked for it. */
export type Applied =
  | { readonly kind: 'rate'; readonly rate: PlannedRate; readonly charge: RateCharge; readonly partition: string; readonly counted: CounterReference }
  | { readonly kind: 'quota'; readonly quota: PlannedQuota; readonly charge: QuotaCharge; readonly partition: string; readonly counted: QuotaReference }
  | { readonly kind: 'slot'; readonly charge: SlotCharge; readonly partition: string }
  | { readonly kind: 'retry'; readonly charge: RetryCharge };

/** What is worked out once for all calls like this one. */
export function shapeOf(plan: CallPlan, call: Call, generation: number): CallShape {
  return (plan.shapes ??= new CallShapes(plan, call)).shapeOf(call, generation, makeShape);
}

/**
 * Everything that applies to a call: its Idempotency-Key, rates, quotas, its slot. Of calls that are alike the same objects.
 * @param held of a call that holds a slot
 */
export function appliedTo(plan: CallPlan, call: Call, generation: number, held?: HeldSlot): readonly Applied[] {
  return appliedIn(shapeOf(plan, call, generation), plan, call, held);
}

/** The same with the call's shape at hand: `shape.applied` itself for a plain call. */
export function appliedIn(shape: CallShape, plan: CallPlan, call: Call, held?: HeldSlot): readonly Applied[] {
  if (call.isExempt === true) return shape.applied.filter((one) => one.kind === 'quota').map(meteredOnly);
  const retry = call.idempotencyKey === undefined ? undefined : retryChargeOf(call, call.idempotencyKey);
  const slot = call.holdsSlot === true ? slotApplied(shape, plan, call, held) : undefined;
  if (retry === undefined && slot === undefined) return shape.applied;
  return [...(retry ? [{ kind: 'retry' as const, charge: retry }] : []), ...shape.applied, ...(slot ? [slot] : [])];
}

export const chargesOf = (applied: readonly Applied[]): Charge[] => applied.map(({ charge }) => charge);

function makeShape(plan: CallPlan, call: Call, generation: number, like: CallShape | undefined): CallShape {
  const applied: Applied[] = [];
  const known = like?.applied;
  for (const rate of plan.rates) {
    // What applies is no question of the cost, so that both stand in one order.
    const same = known?.[applied.length];
    const counted = known === undefined ? counterOf(rate, call) : same?.kind === 'rate' && same.rate === rate ? same.counted : undefined;
    if (!counted) continue;
    applied.push({ kind: 'rate', rate, charge: rateCharge(rate, counted, call.cost), partition: counted.partition, counted });
  }
  for (const quota of plan.quotas) {
    const same = like?.generation === generation ? known?.[applied.length] : undefined;
    const counted = same?.kind === 'quota' ? same.counted : quotaCounterOf(quota, plan.segment, call.tenant, generation);
    applied.push(quotaApplied(plan, quota, counted, call.cost));
  }
  return { cost: call.cost, generation, applied, charges: chargesOf(applied), slot: undefined, check: undefined, denied: undefined };
}

/** Undefined where the tier caps no calls in flight. */
function slotApplied(shape: CallShape, plan: CallPlan, call: Call, held: HeldSlot | undefined): Applied | undefined {
  const { limit } = plan.segment.concurrency;
  if (limit === null) return undefined;
  const { generation } = shape;
  const { counter, partition } = (shape.slot ??= slotCounterOf(call.tenant, generation));
  const charge: SlotCharge = { kind: 'slot', counter, limit, isRegenerated: generation > 1, cost: 1, ...(held ? { onLost: held.lose } : {}) };
  return { kind: 'slot', charge, partition };
}

type AppliedQuota = Extract<Applied, { kind: 'quota' }>;

function quotaApplied({ segment }: CallPlan, planned: PlannedQuota, counted: QuotaReference, cost: number): AppliedQuota {
  const { allowance, overage, throttle, ceiling } = planned.quota;
  const { counter, base, lane: laneCounter, partition } = counted;
  const lane = throttle && { kind: 'bucket' as const, counter: laneCounter, limit: throttle.limit, windowMs: throttle.windowMs, capacity: throttle.limit, cost };
  return {
    kind: 'quota',
    quota: planned,
    partition,
    counted,
    charge: {
      kind: 'quota', counter, base, allowance, overage, periodEndMs: segment.period.endMs, cost,
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
