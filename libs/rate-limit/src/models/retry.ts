import type { Charge } from '../store';
import type { AdmittedOf, Around, ChargeOf, Circumstances, CounterModel, Figures, Judgement } from './judgement';
import { GRACE_MS, ttlOf } from './numbers';

/** Uses of one Idempotency-Key: of the call that was admitted first, and how often it came again at the lower cost. */
export interface RetryState {
  readonly uses: number;
  readonly firstMs: number;
}

/** What a retry charge claims: 1 where the call costs anything, so that it is remembered; 0 for a look, which it ignores. */
export const retryUnits = (charges: readonly Charge[]): 0 | 1 => (charges.some(({ cost }) => cost > 0) ? 1 : 0);

/** As of `nowMs`, re-based after a step back of the clock; undefined once the window is over. */
const running = (state: RetryState | undefined, windowMs: number, nowMs: number): RetryState | undefined => {
  if (state === undefined) return undefined;
  const firstMs = Math.min(state.firstMs, nowMs);
  return nowMs - firstMs < windowMs ? { ...state, firstMs } : undefined;
};

/** Always passes. A first use is counted as 0 repeats; past `max` repeats the call costs what it costs, and nothing is counted. */
export const judgeRetry = (
  state: RetryState | undefined, { windowMs, max, repeatCost }: ChargeOf<'retry'>, units: number, { nowMs }: Pick<Circumstances, 'nowMs'>,
): Judgement<RetryState> => {
  if (units === 0) return { retryAfterMs: 0, state };
  const found = running(state, windowMs, nowMs);
  if (found === undefined) return { retryAfterMs: 0, state: { uses: 0, firstMs: nowMs } };
  if (found.uses >= max) return { retryAfterMs: 0, state: found };
  return { retryAfterMs: 0, state: { ...found, uses: found.uses + 1 }, costCap: repeatCost };
};

export const retryFigures = (state: RetryState | undefined, { windowMs, max }: ChargeOf<'retry'>, { nowMs }: Pick<Around, 'nowMs'>): Figures => {
  const found = running(state, windowMs, nowMs);
  if (found === undefined) return { figures: { remaining: max, resetAfterMs: 0, moreAfterMs: 0 }, ttlMs: 0 };
  const resetAfterMs = found.firstMs + windowMs - nowMs;
  return { figures: { remaining: Math.max(0, max - found.uses), resetAfterMs, moreAfterMs: resetAfterMs }, ttlMs: ttlOf(resetAfterMs, GRACE_MS) };
};

/** A refund gives back units of the other charges; the use stays a use, or a key that is always refunded would repeat for ever. */
export const retryModel: CounterModel<ChargeOf<'retry'>, RetryState, AdmittedOf<'retry'>> = {
  judge: judgeRetry, figures: retryFigures, refund: () => undefined,
};
