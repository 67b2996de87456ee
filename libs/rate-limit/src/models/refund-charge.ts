import type { AdmittedCharge } from '../store';
import { drainBucket, type BucketState } from './bucket';
import type { CounterBook, CounterState } from './judge-check';
import { ceilDivide, GRACE_MS, ttlOf } from './numbers';
import { quotaTtlMs } from './quota';

/** What a refund leaves to do: `drop` where the counter is untouched again. */
export type RefundChange =
  | { readonly kind: 'write'; readonly state: CounterState; readonly ttlMs: number }
  | { readonly kind: 'drop' };

/** The meaning of refund.lua for one charge; undefined where there is nothing to give back to. */
export const refundCharge = (book: CounterBook, charge: AdmittedCharge, nowMs: number): RefundChange | undefined => {
  if (charge.kind === 'bucket') return refundBucket(book.bucket(charge.counter), charge, nowMs);
  if (charge.kind === 'window') return refundWindow(book, charge, nowMs);
  const state = book.quota(charge.counter);
  if (state === undefined) return undefined;
  const count = Math.max(0, state.count - charge.units);
  return count === 0 ? { kind: 'drop' } : { kind: 'write', state: { count }, ttlMs: quotaTtlMs(charge.periodEndMs, nowMs) };
};

type Admitted<Kind> = Extract<AdmittedCharge, { kind: Kind }>;

/**
 * Draining and giving back are both subtractions that stop at 0, so their order does not matter: the time stays, and whoever judges next
 * drains with the limit of that day.
 */
const refundBucket = (state: BucketState | undefined, { limit, windowMs, units }: Admitted<'bucket'>, nowMs: number): RefundChange | undefined => {
  if (state === undefined || limit === 0) return undefined;
  const back = units * windowMs;
  const rest = { debt: back >= state.debt ? 0 : state.debt - back, timeMs: state.timeMs };
  const { debt } = drainBucket(rest, limit, nowMs);
  return debt === 0 ? { kind: 'drop' } : { kind: 'write', state: rest, ttlMs: ttlOf(ceilDivide(debt, limit), GRACE_MS) };
};

/** Only the window that was charged gets its units back, and only while it runs. */
const refundWindow = (book: CounterBook, { counter, windowMs, startMs, units }: Admitted<'window'>, nowMs: number): RefundChange | undefined => {
  const state = book.window(counter);
  if (state === undefined || state.startMs !== startMs || startMs > nowMs || nowMs - startMs >= windowMs) return undefined;
  const count = Math.max(0, state.count - units);
  if (count === 0) return { kind: 'drop' };
  return { kind: 'write', state: { count, startMs }, ttlMs: ttlOf(startMs + windowMs - nowMs, GRACE_MS) };
};
