import { MAX_EXACT } from '@quotaplane/contracts';
import type { AdmittedOf, Around, ChargeOf, Circumstances, CounterModel, Figures, Judgement, RefundChange } from './judgement';
import { ceilDivide, CLOSED_HINT_MAX_MS, floorDivide, GRACE_MS, ttlOf } from './numbers';

/**
 * Leaky bucket: a queue of `capacity` units, the call that departs included, that lets `limit` units out per `windowMs`, evenly. The queue is a
 * schedule: a call is told when it departs, and waits by itself. Refused are those that find it full, or would wait longer than `maxWaitMs`.
 */
export interface QueueRule {
  readonly limit: number;
  readonly windowMs: number;
  readonly capacity: number;
  readonly maxWaitMs: number;
}

/** The debt bounds the queue: unit-ms as in a bucket (M4). `freeAtMs + rest / limit` ms is the instant from which the outflow is free. */
export interface QueueState {
  readonly debt: number;
  readonly timeMs: number;
  readonly freeAtMs: number;
  /** 0 .. limit - 1, in parts of a ms. */
  readonly rest: number;
  /** Under which the last call was queued. */
  readonly limit: number;
}

interface Instant {
  readonly atMs: number;
  readonly rest: number;
}

const capacityOf = (rule: QueueRule): number => Math.min(rule.capacity, floorDivide(MAX_EXACT, rule.windowMs));

const isClosed = (rule: QueueRule): boolean => rule.limit === 0 || rule.capacity === 0;

/** After a step back of the clock the time is re-based, and the outflow is free as much earlier (P05). */
const rebase = (state: QueueState, nowMs: number): QueueState =>
  state.timeMs <= nowMs ? state : { ...state, timeMs: nowMs, freeAtMs: Math.max(0, state.freeAtMs - (state.timeMs - nowMs)) };

/**
 * Debt, and the instant from which the outflow is free, as of `nowMs`. A rest counts in parts of its own limit: those queued keep their times, and
 * after an edit of the limit the next one gives up less than a ms.
 */
const settle = (state: QueueState | undefined, limit: number, nowMs: number): { readonly debt: number; readonly free: Instant } => {
  if (state === undefined) return { debt: 0, free: { atMs: nowMs, rest: 0 } };
  const { debt, timeMs, freeAtMs, rest, limit: before } = rebase(state, nowMs);
  // Where this product leaves the exact range it is still above every debt.
  const drained = (nowMs - timeMs) * limit;
  const free = limit !== before && rest > 0 ? { atMs: freeAtMs + 1, rest: 0 } : { atMs: freeAtMs, rest };
  return { debt: Math.max(0, debt - drained), free: free.atMs < nowMs ? { atMs: nowMs, rest: 0 } : free };
};

/** `units x windowMs / limit` ms later, exactly; held within the exact range. */
const later = ({ atMs, rest }: Instant, units: number, windowMs: number, limit: number): Instant => {
  const part = (units * windowMs) % limit;
  const isCarried = rest >= limit - part;
  const whole = (units * windowMs - part) / limit + (isCarried ? 1 : 0);
  return whole > MAX_EXACT - atMs ? { atMs: MAX_EXACT, rest: 0 } : { atMs: atMs + whole, rest: isCarried ? rest - (limit - part) : rest + part };
};

/** The first whole ms at or after an instant. */
const roundUp = ({ atMs, rest }: Instant): number => atMs + (rest > 0 ? 1 : 0);

/** @param cost whole units; 0 looks and passes unless the limit is 0 */
export const judgeQueue = (
  state: QueueState | undefined, rule: QueueRule, cost: number, { nowMs, segmentLeftMs, claimed }: Omit<Circumstances, 'baseOf'>,
): Judgement<QueueState> => {
  if (isClosed(rule)) return { retryAfterMs: Math.min(segmentLeftMs, CLOSED_HINT_MAX_MS), state };
  const { limit, windowMs, maxWaitMs } = rule;
  const asFound = state && rebase(state, nowMs);
  if (cost === 0) return { retryAfterMs: 0, state: asFound, waitMs: 0 };
  if (cost > capacityOf(rule) - claimed) return { retryAfterMs: -1, state: asFound };
  // What the check's earlier charges take of the outflow has to pass first, however long the client waits.
  if (ceilDivide(claimed * windowMs, limit) > maxWaitMs) return { retryAfterMs: -1, state: asFound };
  const { debt, free } = settle(state, limit, nowMs);
  const waitMs = roundUp(later(free, claimed, windowMs, limit)) - nowMs;
  const wanted = (claimed + cost) * windowMs;
  const missing = wanted - (capacityOf(rule) * windowMs - debt);
  const retryAfterMs = Math.max(missing > 0 ? ceilDivide(missing, limit) : 0, waitMs - maxWaitMs, 0);
  if (retryAfterMs > 0) return { retryAfterMs, state: asFound };
  const { atMs, rest } = later(free, claimed + cost, windowMs, limit);
  return { retryAfterMs: 0, state: { debt: debt + wanted, timeMs: nowMs, freeAtMs: atMs, rest, limit }, waitMs };
};

/** As of a bucket. Untouched is a queue without debt whose outflow is free: after an edit of the limit, or a refund, one may come later than the other. */
export const queueFigures = (state: QueueState | undefined, rule: QueueRule, { nowMs, segmentLeftMs }: Omit<Around, 'baseOf'>): Figures => {
  if (isClosed(rule)) {
    const hintMs = Math.min(segmentLeftMs, CLOSED_HINT_MAX_MS);
    return { figures: { remaining: 0, resetAfterMs: hintMs, moreAfterMs: hintMs }, ttlMs: 0 };
  }
  const { limit, windowMs } = rule;
  const { debt, free } = settle(state, limit, nowMs);
  const resetAfterMs = Math.max(ceilDivide(debt, limit), roundUp(free) - nowMs);
  const ttlMs = resetAfterMs > 0 ? ttlOf(resetAfterMs, GRACE_MS) : 0;
  const room = capacityOf(rule) * windowMs - debt;
  const remaining = room > 0 ? floorDivide(room, windowMs) : 0;
  const untilNextUnit = windowMs - (room > 0 ? room % windowMs : room);
  return { figures: { remaining, resetAfterMs, moreAfterMs: debt === 0 ? 0 : ceilDivide(untilNextUnit, limit) }, ttlMs };
};

/** Where the refunded call was the last of the schedule and has not departed yet, the outflow is free from its departure on. */
const freedBy = ({ freeAtMs, rest, limit }: QueueState, charge: AdmittedOf<'queue'>, nowMs: number): Instant => {
  const free = { atMs: freeAtMs, rest };
  const part = (charge.units * charge.windowMs) % limit;
  const whole = (charge.units * charge.windowMs - part) / limit + (rest < part ? 1 : 0);
  if (limit !== charge.limit || charge.departsAtMs <= nowMs || whole > freeAtMs) return free;
  const departed = { atMs: freeAtMs - whole, rest: rest < part ? rest + (limit - part) : rest - part };
  return roundUp(departed) === charge.departsAtMs ? departed : free;
};

const refundQueue = (state: QueueState | undefined, charge: AdmittedOf<'queue'>, nowMs: number): RefundChange<QueueState> | undefined => {
  if (state === undefined) return undefined;
  const free = freedBy(state, charge, nowMs);
  const left = { ...state, debt: Math.max(0, state.debt - charge.units * charge.windowMs), freeAtMs: free.atMs, rest: free.rest };
  const { debt, free: freeNow } = settle(left, left.limit, nowMs);
  const untouchedAfterMs = Math.max(ceilDivide(debt, left.limit), roundUp(freeNow) - nowMs);
  return untouchedAfterMs === 0 ? { kind: 'drop' } : { kind: 'write', state: left, ttlMs: ttlOf(untouchedAfterMs, GRACE_MS) };
};

export const queueModel: CounterModel<ChargeOf<'queue'>, QueueState, AdmittedOf<'queue'>> = { judge: judgeQueue, figures: queueFigures, refund: refundQueue };
