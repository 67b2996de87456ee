import { MAX_EXACT } from '@quotaplane/contracts';
import type { AdmittedOf, Around, ChargeOf, Circumstances, CounterModel, Figures, Judgement, RefundChange } from './judgement';
import { ceilDivide, CLOSED_HINT_MAX_MS, floorDivide, GRACE_MS, ttlOf } from './numbers';

/**
 * Sliding counter of `limit` units: two epoch-aligned windows, the older one weighed by what of it is still inside. A call of `cost` passes exactly
 * when `previous x (windowMs - elapsed) + (current + cost) x windowMs <= limit x windowMs`. The weight supposes that the older window was spent
 * evenly; whoever spends it all in its last ms is believed to have spent it earlier.
 * Published bound: fewer than `2 x limit` units pass in any `windowMs` in a row.
 */
export interface SlidingCounterRule {
  readonly limit: number;
  readonly windowMs: number;
}

export interface SlidingCounterState {
  readonly previous: number;
  readonly current: number;
  /** Of the window that `current` counts. */
  readonly startMs: number;
}

/** Where `limit x windowMs` passes 2^53-1 a product would not be exact; such limits are refused at save and held back here. */
const heldBack = (units: number, windowMs: number): number => Math.min(units, floorDivide(MAX_EXACT, windowMs));

/** Both windows as of `nowMs`. After a step back of the clock the start is re-based and the counts kept (P05). */
export const slide = (state: SlidingCounterState | undefined, windowMs: number, nowMs: number): SlidingCounterState => {
  const startMs = nowMs - (nowMs % windowMs);
  if (state === undefined) return { previous: 0, current: 0, startMs };
  const [previous, current] = [heldBack(state.previous, windowMs), heldBack(state.current, windowMs)];
  if (state.startMs >= startMs) return { previous, current, startMs };
  return { previous: state.startMs >= startMs - windowMs ? current : 0, current: 0, startMs };
};

/** What of the older window is still inside, in whole units, rounded up. */
const weighed = ({ previous, startMs }: SlidingCounterState, windowMs: number, nowMs: number): number =>
  ceilDivide(previous * (windowMs - (nowMs - startMs)), windowMs);

/** ms until a lone client gets `cost` <= `limit`: the exact first one, which may lie in the next window, where `current` is the older one. */
const waitFor = (cost: number, { previous, current, startMs }: SlidingCounterState, limit: number, windowMs: number, nowMs: number): number => {
  const elapsedMs = nowMs - startMs;
  const left = limit - current - cost;
  if (left >= 0) return previous === 0 ? 0 : Math.max(0, windowMs - floorDivide(left * windowMs, previous) - elapsedMs);
  return windowMs - elapsedMs + Math.max(0, windowMs - floorDivide((limit - cost) * windowMs, current));
};

/** @param cost whole units; 0 looks and passes unless the limit is 0 */
export const judgeSlidingCounter = (
  state: SlidingCounterState | undefined, rule: SlidingCounterRule, cost: number, { nowMs, segmentLeftMs, claimed }: Omit<Circumstances, 'baseOf'>,
): Judgement<SlidingCounterState> => {
  if (rule.limit === 0) return { retryAfterMs: Math.min(segmentLeftMs, CLOSED_HINT_MAX_MS), state };
  const { windowMs } = rule;
  const limit = heldBack(rule.limit, windowMs);
  const found = slide(state, windowMs, nowMs);
  const asFound = state !== undefined && state.startMs > found.startMs ? found : state;
  if (cost === 0) return { retryAfterMs: 0, state: asFound };
  if (cost > limit - claimed) return { retryAfterMs: -1, state: asFound };
  const retryAfterMs = waitFor(claimed + cost, found, limit, windowMs, nowMs);
  return { retryAfterMs, state: retryAfterMs > 0 ? asFound : { ...found, current: found.current + claimed + cost } };
};

export const slidingCounterFigures = (
  state: SlidingCounterState | undefined, rule: SlidingCounterRule, { nowMs, segmentLeftMs }: Omit<Around, 'baseOf'>,
): Figures => {
  if (rule.limit === 0) {
    const hintMs = Math.min(segmentLeftMs, CLOSED_HINT_MAX_MS);
    return { figures: { remaining: 0, resetAfterMs: hintMs, moreAfterMs: hintMs }, ttlMs: 0 };
  }
  const { windowMs } = rule;
  const limit = heldBack(rule.limit, windowMs);
  const found = slide(state, windowMs, nowMs);
  if (found.previous + found.current === 0) return { figures: { remaining: limit, resetAfterMs: 0, moreAfterMs: 0 }, ttlMs: 0 };
  const remaining = Math.max(0, limit - found.current - weighed(found, windowMs, nowMs));
  const resetAfterMs = found.startMs + (found.current > 0 ? 2 : 1) * windowMs - nowMs;
  return { figures: { remaining, resetAfterMs, moreAfterMs: waitFor(remaining + 1, found, limit, windowMs, nowMs) }, ttlMs: ttlOf(resetAfterMs, GRACE_MS) };
};

/** The window that was charged gets its units back while it is one of the two. */
const refundSlidingCounter = (
  state: SlidingCounterState | undefined, { windowMs, startMs, units }: AdmittedOf<'counter'>, nowMs: number,
): RefundChange<SlidingCounterState> | undefined => {
  if (state === undefined || startMs > nowMs || nowMs - startMs >= 2 * windowMs) return undefined;
  const isCurrent = state.startMs === startMs;
  if (!isCurrent && state.startMs !== startMs + windowMs) return undefined;
  const back = (count: number): number => Math.max(0, count - units);
  const left = isCurrent ? { ...state, current: back(state.current) } : { ...state, previous: back(state.previous) };
  const { previous, current, startMs: runningMs } = slide(left, windowMs, nowMs);
  if (previous + current === 0) return { kind: 'drop' };
  return { kind: 'write', state: left, ttlMs: ttlOf(runningMs + (current > 0 ? 2 : 1) * windowMs - nowMs, GRACE_MS) };
};

export const counterModel: CounterModel<ChargeOf<'counter'>, SlidingCounterState, AdmittedOf<'counter'>> = {
  judge: judgeSlidingCounter, figures: slidingCounterFigures, refund: refundSlidingCounter,
};
