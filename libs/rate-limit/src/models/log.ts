import { MAX_EXACT } from '@quotaplane/contracts';
import type { AdmittedOf, Around, ChargeOf, Circumstances, CounterModel, Figures, Judgement, RefundChange } from './judgement';
import { CLOSED_HINT_MAX_MS, GRACE_MS, ttlOf } from './numbers';

/** Sliding log: `limit` units in any `windowMs` in a row, exactly. Memory: one entry for each ms with an admission, `limit` entries at most. */
export interface LogRule {
  readonly limit: number;
  readonly windowMs: number;
}

/** Units admitted in one ms. Counts while `nowMs - timeMs < windowMs`. */
export interface LogEntry {
  readonly timeMs: number;
  readonly units: number;
}

export interface LogState {
  /** Of the entries, so that nobody has to read them all. */
  readonly sum: number;
  /** Oldest first, one a ms. */
  readonly entries: readonly LogEntry[];
}

/** A log as of now. `isMoved`: other than stored, by what expired or was ahead of the clock. */
interface LiveLog extends LogState {
  readonly isMoved: boolean;
}

const EMPTY: LiveLog = { sum: 0, entries: [], isMoved: false };

const add = (one: number, other: number): number => (one > MAX_EXACT - other ? MAX_EXACT : one + other);

/** What still counts. Entries ahead of the clock are re-based to now, merged and kept, so that a step back neither admits more nor locks out for longer (P05). */
export const liveLog = (state: LogState | undefined, windowMs: number, nowMs: number): LiveLog => {
  const newest = state?.entries.at(-1);
  if (state === undefined || newest === undefined || nowMs - newest.timeMs >= windowMs) return EMPTY;
  const aheadAt = newest.timeMs > nowMs ? state.entries.findLastIndex((entry) => entry.timeMs < nowMs) + 1 : state.entries.length;
  const ahead = state.entries.slice(aheadAt).reduce((units, entry) => add(units, entry.units), 0);
  let { sum } = state;
  let firstAt = 0;
  for (let entry = state.entries[0]; entry !== undefined && firstAt < aheadAt && nowMs - entry.timeMs >= windowMs; entry = state.entries[firstAt]) {
    sum = Math.max(0, sum - entry.units);
    firstAt += 1;
  }
  if (sum === 0) return EMPTY;
  const kept = state.entries.slice(firstAt, aheadAt);
  const isAhead = aheadAt < state.entries.length;
  return { sum, entries: isAhead ? [...kept, { timeMs: nowMs, units: ahead }] : kept, isMoved: isAhead || firstAt > 0 };
};

const charged = ({ sum, entries }: LogState, units: number, nowMs: number): LogState => {
  const newest = entries.at(-1);
  const before = newest?.timeMs === nowMs ? newest.units : 0;
  const kept = before > 0 ? entries.slice(0, -1) : entries;
  return { sum: sum + units, entries: [...kept, { timeMs: nowMs, units: add(before, units) }] };
};

/** ms until `units` have expired, from the oldest entry on. */
const waitFor = (units: number, { entries }: LogState, windowMs: number, nowMs: number): number => {
  let freed = 0;
  for (const { timeMs, units: more } of entries) {
    freed += more;
    if (freed >= units) return timeMs + windowMs - nowMs;
  }
  return (entries.at(-1)?.timeMs ?? nowMs) + windowMs - nowMs;
};

/** @param cost whole units; 0 looks and passes unless the limit is 0 */
export const judgeLog = (
  state: LogState | undefined, { limit, windowMs }: LogRule, cost: number, { nowMs, segmentLeftMs, claimed }: Omit<Circumstances, 'baseOf'>,
): Judgement<LogState> => {
  if (limit === 0) return { retryAfterMs: Math.min(segmentLeftMs, CLOSED_HINT_MAX_MS), state };
  const live = liveLog(state, windowMs, nowMs);
  const asFound = live.isMoved ? { sum: live.sum, entries: live.entries } : state;
  if (cost === 0) return { retryAfterMs: 0, state: asFound };
  if (cost > limit - claimed) return { retryAfterMs: -1, state: asFound };
  const total = claimed + cost;
  const missing = live.sum - (limit - total);
  if (missing > 0) return { retryAfterMs: waitFor(missing, live, windowMs, nowMs), state: asFound };
  return { retryAfterMs: 0, state: charged(live, total, nowMs) };
};

export const logFigures = (state: LogState | undefined, { limit, windowMs }: LogRule, { nowMs, segmentLeftMs }: Omit<Around, 'baseOf'>): Figures => {
  if (limit === 0) {
    const hintMs = Math.min(segmentLeftMs, CLOSED_HINT_MAX_MS);
    return { figures: { remaining: 0, resetAfterMs: hintMs, moreAfterMs: hintMs }, ttlMs: 0 };
  }
  const live = liveLog(state, windowMs, nowMs);
  if (live.sum === 0) return { figures: { remaining: limit, resetAfterMs: 0, moreAfterMs: 0 }, ttlMs: 0 };
  const resetAfterMs = (live.entries.at(-1)?.timeMs ?? nowMs) + windowMs - nowMs;
  const moreAfterMs = waitFor(Math.max(1, live.sum - limit + 1), live, windowMs, nowMs);
  return { figures: { remaining: Math.max(0, limit - live.sum), resetAfterMs, moreAfterMs }, ttlMs: ttlOf(resetAfterMs, GRACE_MS) };
};

/** The ms that was charged gets its units back while it counts. */
const refundLog = (state: LogState | undefined, { windowMs, atMs, units }: AdmittedOf<'log'>, nowMs: number): RefundChange<LogState> | undefined => {
  const entry = state?.entries.find(({ timeMs }) => timeMs === atMs);
  if (state === undefined || entry === undefined || nowMs - atMs >= windowMs) return undefined;
  const back = Math.min(units, entry.units);
  const entries = back === entry.units
    ? state.entries.filter((other) => other !== entry)
    : state.entries.map((other) => (other === entry ? { timeMs: atMs, units: entry.units - back } : other));
  const left = { sum: Math.max(0, state.sum - back), entries };
  const newest = entries.at(-1);
  if (left.sum === 0 || newest === undefined || nowMs - newest.timeMs >= windowMs) return { kind: 'drop' };
  return { kind: 'write', state: left, ttlMs: ttlOf(Math.min(newest.timeMs, nowMs) + windowMs - nowMs, GRACE_MS) };
};

export const logModel: CounterModel<ChargeOf<'log'>, LogState, AdmittedOf<'log'>> = { judge: judgeLog, figures: logFigures, refund: refundLog };
