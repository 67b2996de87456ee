import { MAX_EXACT } from '@quotaplane/contracts';
import type { AdmittedOf, Around, ChargeOf, Circumstances, CounterModel, Figures, Judgement, RefundChange } from './judgement';
import { ceilDivide, CLOSED_HINT_MAX_MS, floorDivide, GRACE_MS, ttlOf } from './numbers';

/** Token bucket and GCRA, which share this state: `limit` units drain per `windowMs`, `capacity` units fit. */
export interface BucketRule {
  readonly limit: number;
  readonly windowMs: number;
  readonly capacity: number;
}

/** M4: the debt in unit-milliseconds at a store time. Cost adds `cost x windowMs`, each millisecond drains `limit`. */
export interface BucketState {
  readonly debt: number;
  readonly timeMs: number;
}

/** The debt at `nowMs`. After a step back of the clock the time is re-based and the debt kept. */
export const drainBucket = (state: BucketState | undefined, limit: number, nowMs: number): BucketState => {
  if (state === undefined) return { debt: 0, timeMs: nowMs };
  if (nowMs <= state.timeMs) return { debt: state.debt, timeMs: nowMs };
  // Where this product leaves the exact range it is still above every debt, so that the bucket is empty all the same.
  const drained = (nowMs - state.timeMs) * limit;
  return { debt: drained >= state.debt ? 0 : state.debt - drained, timeMs: nowMs };
};

/** Units that fit so that a full debt stays exact; the contracts refuse larger limits at save. */
const capacityOf = (rule: BucketRule): number =>
  rule.capacity * rule.windowMs > MAX_EXACT ? floorDivide(MAX_EXACT, rule.windowMs) : rule.capacity;

/** Room in unit-milliseconds; negative after the burst was lowered. */
const roomOf = (rule: BucketRule, debt: number): number => capacityOf(rule) * rule.windowMs - debt;

const isClosed = (rule: BucketRule): boolean => rule.limit === 0 || rule.capacity === 0;

/** @param cost whole units; 0 looks and passes unless the limit is 0 */
export const judgeBucket = (
  state: BucketState | undefined, rule: BucketRule, cost: number, { nowMs, segmentLeftMs, claimed }: Omit<Circumstances, 'baseOf'>,
): Judgement<BucketState> => {
  if (isClosed(rule)) return { retryAfterMs: Math.min(segmentLeftMs, CLOSED_HINT_MAX_MS), state };
  const found = drainBucket(state, rule.limit, nowMs);
  const asFound = state !== undefined && state.timeMs > nowMs && state.debt > 0 ? found : state;
  if (cost === 0) return { retryAfterMs: 0, state: asFound };
  if (cost > capacityOf(rule) - claimed) return { retryAfterMs: -1, state: asFound };
  const wanted = (claimed + cost) * rule.windowMs;
  const missing = wanted - roomOf(rule, found.debt);
  if (missing > 0) return { retryAfterMs: ceilDivide(missing, rule.limit), state: asFound };
  return { retryAfterMs: 0, state: { debt: found.debt + wanted, timeMs: nowMs } };
};

export const bucketFigures = (
  state: BucketState | undefined, rule: BucketRule, { nowMs, segmentLeftMs }: Omit<Around, 'baseOf'>,
): Figures => {
  if (isClosed(rule)) {
    const hintMs = Math.min(segmentLeftMs, CLOSED_HINT_MAX_MS);
    return { figures: { remaining: 0, resetAfterMs: hintMs, moreAfterMs: hintMs }, ttlMs: 0 };
  }
  const { debt } = drainBucket(state, rule.limit, nowMs);
  const room = roomOf(rule, debt);
  const remaining = room > 0 ? floorDivide(room, rule.windowMs) : 0;
  if (debt === 0) return { figures: { remaining, resetAfterMs: 0, moreAfterMs: 0 }, ttlMs: 0 };
  const resetAfterMs = ceilDivide(debt, rule.limit);
  const untilNextUnit = rule.windowMs - (room - remaining * rule.windowMs);
  return { figures: { remaining, resetAfterMs, moreAfterMs: ceilDivide(untilNextUnit, rule.limit) }, ttlMs: ttlOf(resetAfterMs, GRACE_MS) };
};

/**
 * Draining and giving back are both subtractions that stop at 0, so their order does not matter: the time stays, and whoever judges next
 * drains with the limit of that day.
 */
const refundBucket = (state: BucketState | undefined, { limit, windowMs, units }: AdmittedOf<'bucket'>, nowMs: number): RefundChange<BucketState> | undefined => {
  if (state === undefined || limit === 0) return undefined;
  const back = units * windowMs;
  const rest = { debt: back >= state.debt ? 0 : state.debt - back, timeMs: state.timeMs };
  const { debt } = drainBucket(rest, limit, nowMs);
  return debt === 0 ? { kind: 'drop' } : { kind: 'write', state: rest, ttlMs: ttlOf(ceilDivide(debt, limit), GRACE_MS) };
};

export const bucketModel: CounterModel<ChargeOf<'bucket'>, BucketState, AdmittedOf<'bucket'>> = { judge: judgeBucket, figures: bucketFigures, refund: refundBucket };
