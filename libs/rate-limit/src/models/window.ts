import type { Alignment } from '@quotaplane/contracts';
import type { AdmittedOf, Around, ChargeOf, Circumstances, CounterModel, Figures, Judgement, RefundChange } from './judgement';
import { CLOSED_HINT_MAX_MS, GRACE_MS, ttlOf } from './numbers';

/** Fixed window of `limit` units, aligned to the epoch or opened by the first call that is counted. */
export interface WindowRule {
  readonly limit: number;
  readonly windowMs: number;
  readonly alignment: Alignment;
}

export interface WindowState {
  readonly count: number;
  readonly startMs: number;
}

/** The window running at `nowMs`. After a step back of the clock the start is re-based and the count kept (P05). */
export const currentWindow = (state: WindowState | undefined, rule: Omit<WindowRule, 'limit'>, nowMs: number): WindowState => {
  if (rule.alignment === 'epoch') {
    const startMs = nowMs - (nowMs % rule.windowMs);
    return { count: state !== undefined && state.startMs >= startMs ? state.count : 0, startMs };
  }
  if (state === undefined || state.count === 0 || nowMs - state.startMs >= rule.windowMs) return { count: 0, startMs: nowMs };
  return { count: state.count, startMs: Math.min(state.startMs, nowMs) };
};

/** @param cost whole units; 0 looks and passes unless the limit is 0 */
export const judgeWindow = (
  state: WindowState | undefined, rule: WindowRule, cost: number, { nowMs, segmentLeftMs, claimed }: Omit<Circumstances, 'baseOf'>,
): Judgement<WindowState> => {
  if (rule.limit === 0) return { retryAfterMs: Math.min(segmentLeftMs, CLOSED_HINT_MAX_MS), state };
  const found = currentWindow(state, rule, nowMs);
  const asFound = state !== undefined && state.startMs > found.startMs && state.count > 0 ? found : state;
  if (cost === 0) return { retryAfterMs: 0, state: asFound };
  if (cost > rule.limit - claimed) return { retryAfterMs: -1, state: asFound };
  if (cost > rule.limit - claimed - found.count) return { retryAfterMs: found.startMs + rule.windowMs - nowMs, state: asFound };
  return { retryAfterMs: 0, state: { count: found.count + claimed + cost, startMs: found.startMs } };
};

export const windowFigures = (
  state: WindowState | undefined, rule: WindowRule, { nowMs, segmentLeftMs }: Omit<Around, 'baseOf'>,
): Figures => {
  if (rule.limit === 0) {
    const hintMs = Math.min(segmentLeftMs, CLOSED_HINT_MAX_MS);
    return { figures: { remaining: 0, resetAfterMs: hintMs, moreAfterMs: hintMs }, ttlMs: 0 };
  }
  const { count, startMs } = currentWindow(state, rule, nowMs);
  if (count === 0) return { figures: { remaining: rule.limit, resetAfterMs: 0, moreAfterMs: 0 }, ttlMs: 0 };
  const resetAfterMs = startMs + rule.windowMs - nowMs;
  return { figures: { remaining: Math.max(0, rule.limit - count), resetAfterMs, moreAfterMs: resetAfterMs }, ttlMs: ttlOf(resetAfterMs, GRACE_MS) };
};

/** Only the window that was charged gets its units back, and only while it runs. */
const refundWindow = (state: WindowState | undefined, { windowMs, startMs, units }: AdmittedOf<'window'>, nowMs: number): RefundChange<WindowState> | undefined => {
  if (state === undefined || state.startMs !== startMs || startMs > nowMs || nowMs - startMs >= windowMs) return undefined;
  const count = Math.max(0, state.count - units);
  if (count === 0) return { kind: 'drop' };
  return { kind: 'write', state: { count, startMs }, ttlMs: ttlOf(startMs + windowMs - nowMs, GRACE_MS) };
};

export const windowModel: CounterModel<ChargeOf<'window'>, WindowState, AdmittedOf<'window'>> = { judge: judgeWindow, figures: windowFigures, refund: refundWindow };
