import type { Charge, ChargeState, QuotaCharge, QuotaState, RateCharge } from '../store';
import { atLeast, ceilDiv, firstTrue, max, min, type Fraction } from './bigint-arithmetic';

/**
 * A second opinion on every decision, in BigInt and from the whole history instead of a running state; written without looking at the
 * models or the scripts. A bucket's debt is the largest backlog over all starting points (Lindley's formula), a window's count is the sum of what fell
 * into it, a wait of a sliding window is searched for in the future instead of solved, and a queue's outflow is a fraction.
 * Clocks here only go forward; steps back are held by the model's own spec.
 */
interface Spent {
  readonly at: bigint;
  readonly units: bigint;
  /** Drain per ms from the spending before this one up to it: the limit in force when it was judged. */
  readonly drainedAt: bigint;
}

/** When the outflow of a queue is free, and under which limit that was said. */
interface Outflow {
  readonly free: Fraction;
  readonly limit: bigint;
}

interface Opinion {
  readonly passes: boolean;
  readonly before: ChargeState | QuotaState;
  readonly after: ChargeState | QuotaState;
  /** The throttle lane of a quota past its allowance: it is charged, too. */
  readonly lane?: RateCharge;
}

/** What the ledger knows beside a quota's counter. */
interface Ledger {
  readonly plus: number;
  readonly minus: number;
}

const state = (remaining: bigint, resetAfterMs: bigint, retryAfterMs: bigint): ChargeState => ({
  remaining: Number(remaining), resetAfterMs: Number(resetAfterMs), retryAfterMs: Number(retryAfterMs), moreAfterMs: 0,
});

const LARGEST = BigInt(Number.MAX_SAFE_INTEGER);

const untilFree = ({ free }: Outflow, now: bigint): bigint => max(0n, ceilDiv(free.over, free.under) - now);
/** A queue is untouched only when its outflow is free, too. */
const notBefore = (figures: ChargeState, freeAfter: bigint): ChargeState => ({ ...figures, resetAfterMs: Number(max(BigInt(figures.resetAfterMs), freeAfter)) });

export class BigIntOracle {
  private readonly history = new Map<string, Spent[]>();
  private readonly outflows = new Map<string, Outflow>();

  /** @param ledgers by the name of a quota's base */
  constructor(private readonly ledgers: ReadonlyMap<string, Ledger> = new Map()) {}

  /** Judges all charges at `nowMs`; spends all of them, or none. */
  judge(charges: readonly Charge[], nowMs: number, untilMs: number): { readonly allowed: boolean; readonly states: readonly (ChargeState | QuotaState)[] } {
    const now = BigInt(nowMs);
    const endHint = min(BigInt(untilMs) - now, 86_400_000n);
    const opinions = charges.map((charge) => this.opinion(charge, now, endHint));
    const allowed = opinions.every((opinion) => opinion.passes);
    if (allowed) charges.forEach((charge, index) => [charge, opinions[index]?.lane].forEach((each) => each && this.spend(each, now)));
    return { allowed, states: opinions.map((opinion) => (allowed ? opinion.after : opinion.before)) };
  }

  private spend(charge: Charge, at: bigint): void {
    if (charge.cost === 0) return;
    if (charge.kind === 'queue') this.outflows.set(charge.counter, this.afterDeparture(charge, at));
    const list = this.history.get(charge.counter) ?? [];
    const drainedAt = charge.kind === 'bucket' || charge.kind === 'queue' ? BigInt(charge.limit) : 0n;
    this.history.set(charge.counter, [...list, { at, units: BigInt(charge.cost), drainedAt }]);
  }

  private opinion(charge: Charge, now: bigint, endHint: bigint): Opinion {
    if (charge.kind === 'slot' || charge.kind === 'retry') throw new TypeError(`no opinion on charges of kind ${charge.kind}`);
    if ((charge.kind === 'quota' ? charge.allowance : charge.limit) === 0) {
      const denied = state(0n, 0n, endHint);
      return { passes: false, before: denied, after: denied };
    }
    if (charge.kind === 'quota') return this.ofQuota(charge, now, endHint);
    switch (charge.kind) {
      case 'bucket': return this.ofBucket(charge, now);
      case 'window': return this.ofWindow(charge, now);
      case 'log': return this.ofLog(charge, now);
      case 'counter': return this.ofCounter(charge, now);
      case 'queue': return this.ofQueue(charge, now);
    }
  }

  private ofBucket(charge: Extract<RateCharge, { kind: 'bucket' | 'queue' }>, now: bigint): Opinion {
    const window = BigInt(charge.windowMs);
    const limit = BigInt(charge.limit);
    const capacity = BigInt(charge.capacity) * window;
    const debt = this.backlog(charge.counter, window, limit, now);
    const need = BigInt(charge.cost) * window;
    const passes = need <= capacity - debt || charge.cost === 0;
    const wait = charge.cost > charge.capacity ? -1n : passes ? 0n : ceilDiv(debt - (capacity - need), limit);
    const at = (owed: bigint, retry: bigint): ChargeState => state(max(0n, capacity - owed) / window, ceilDiv(owed, limit), retry);
    return { passes: passes && wait === 0n, before: at(debt, wait), after: at(debt + need, 0n) };
  }

  private backlog(counter: string, window: bigint, limit: bigint, now: bigint): bigint {
    const spent = this.history.get(counter) ?? [];
    let worst = 0n;
    let backlog = 0n;
    let later = now;
    let drain = limit;
    for (const event of [...spent].reverse()) {
      backlog += event.units * window - drain * (later - event.at);
      worst = max(worst, backlog);
      later = event.at;
      drain = event.drainedAt;
    }
    return worst;
  }

  private ofWindow(charge: Extract<RateCharge, { kind: 'window' }>, now: bigint): Opinion {
    const window = BigInt(charge.windowMs);
    const { start, count } = charge.alignment === 'epoch' ? this.inEpochWindow(charge.counter, window, now) : this.sinceFirstHit(charge.counter, window, now);
    const left = BigInt(charge.limit) - count;
    const cost = BigInt(charge.cost);
    const passes = cost <= left || cost === 0n;
    const toEnd = (start ?? now) + window - now;
    const wait = charge.cost > charge.limit ? -1n : passes ? 0n : toEnd;
    const at = (used: bigint, retry: bigint): ChargeState => state(max(0n, BigInt(charge.limit) - used), used === 0n ? 0n : toEnd, retry);
    return { passes: passes && wait === 0n, before: at(count, wait), after: at(count + cost, 0n) };
  }

  private inEpochWindow(counter: string, window: bigint, now: bigint): { start: bigint; count: bigint } {
    const start = (now / window) * window;
    const inside = (this.history.get(counter) ?? []).filter((event) => event.at >= start);
    return { start, count: inside.reduce((sum, event) => sum + event.units, 0n) };
  }

  private sinceFirstHit(counter: string, window: bigint, now: bigint): { start: bigint | null; count: bigint } {
    let start: bigint | null = null;
    let count = 0n;
    for (const event of this.history.get(counter) ?? []) {
      if (start === null || event.at >= start + window) [start, count] = [event.at, 0n];
      count += event.units;
    }
    return start === null || now >= start + window ? { start: null, count: 0n } : { start, count };
  }

  /** Counts what lies less than a window back, one event at a time. */
  private ofLog({ counter, windowMs, limit, cost }: Extract<RateCharge, { kind: 'log' }>, now: bigint): Opinion {
    const events = this.history.get(counter) ?? [];
    const usedAt = (at: bigint): bigint => events.filter((event) => at - event.at < BigInt(windowMs)).reduce((sum, event) => sum + event.units, 0n);
    const fits = (at: bigint): boolean => usedAt(at) + BigInt(cost) <= BigInt(limit);
    const used = usedAt(now);
    const newest = events.reduce((last, event) => max(last, event.at), 0n);
    const toReset = used === 0n ? 0n : newest + BigInt(windowMs) - now;
    const wait = cost > limit ? -1n : cost === 0 || fits(now) ? 0n : firstTrue(1n, BigInt(windowMs), (after) => fits(now + after));
    const left = (spent: bigint): bigint => max(0n, BigInt(limit) - spent);
    return {
      passes: wait === 0n,
      before: state(left(used), toReset, wait),
      after: cost === 0 ? state(left(used), toReset, 0n) : state(left(used + BigInt(cost)), BigInt(windowMs), 0n),
    };
  }

  /** Two windows by the epoch; what is left of the older one weighs by the part of it that is less than a window back. */
  private ofCounter({ counter, windowMs, limit, cost }: Extract<RateCharge, { kind: 'counter' }>, now: bigint): Opinion {
    const window = BigInt(windowMs);
    const events = this.history.get(counter) ?? [];
    const inWindow = (index: bigint): bigint => events.filter((event) => event.at / window === index).reduce((sum, event) => sum + event.units, 0n);
    const scaledAt = (at: bigint): bigint => inWindow(at / window - 1n) * (window - (at % window)) + inWindow(at / window) * window;
    const fits = (at: bigint): boolean => scaledAt(at) + BigInt(cost) * window <= BigInt(limit) * window;
    const toNext = window - (now % window);
    const wait = cost > limit ? -1n : cost === 0 || fits(now) ? 0n : firstTrue(1n, toNext + window, (after) => fits(now + after));
    const resetOf = (current: bigint): bigint => (current > 0n ? toNext + window : inWindow(now / window - 1n) > 0n ? toNext : 0n);
    const left = (scaled: bigint): bigint => max(0n, BigInt(limit) * window - scaled) / window;
    const current = inWindow(now / window);
    const spent = BigInt(cost);
    return {
      passes: wait === 0n,
      before: state(left(scaledAt(now)), resetOf(current), wait),
      after: state(left(scaledAt(now) + spent * window), resetOf(current + spent), 0n),
    };
  }

  /** A bucket that says how much may stand in the queue, and an outflow that says when the next one may leave. */
  private ofQueue(charge: Extract<RateCharge, { kind: 'queue' }>, now: bigint): Opinion {
    const room = this.ofBucket(charge, now);
    const turn = this.turn(charge.counter, now);
    const tooLong = charge.cost === 0 ? 0n : max(0n, turn - BigInt(charge.maxWaitMs));
    const roomWait = BigInt(room.before.retryAfterMs);
    const wait = roomWait === -1n ? -1n : max(roomWait, tooLong);
    return {
      passes: wait === 0n,
      before: { ...notBefore(room.before, turn), retryAfterMs: Number(wait) },
      after: charge.cost === 0 ? notBefore(room.after, turn) : { ...notBefore(room.after, untilFree(this.afterDeparture(charge, now), now)), waitMs: Number(turn) },
    };
  }

  /** ms until a call may leave. */
  private turn(counter: string, now: bigint): bigint {
    const known = this.outflows.get(counter);
    return known === undefined ? 0n : untilFree(known, now);
  }

  private afterDeparture(charge: Extract<RateCharge, { kind: 'queue' }>, now: bigint): Outflow {
    const limit = BigInt(charge.limit);
    const known = this.outflows.get(charge.counter);
    // Under another limit the next one leaves at a whole millisecond; those before it keep their times.
    const free = known === undefined ? undefined : known.limit === limit ? known.free : { over: ceilDiv(known.free.over, known.free.under), under: 1n };
    const leaves = free === undefined ? { over: now, under: 1n } : atLeast(free, now);
    return { limit, free: { over: leaves.over * limit + BigInt(charge.cost) * BigInt(charge.windowMs) * leaves.under, under: leaves.under * limit } };
  }

  /** Three bounds, told apart by how far a total may go: what the plan allows at most, the largest figure that is exact, and the allowance itself. */
  private ofQuota(charge: QuotaCharge, now: bigint, endHint: bigint): Opinion {
    const counted = (this.history.get(charge.counter) ?? []).reduce((sum, event) => sum + event.units, 0n);
    const { plus, minus } = this.ledgers.get(charge.base) ?? { plus: 0, minus: 0 };
    const used = min(LARGEST, max(0n, counted + BigInt(plus) - BigInt(minus)));
    const cost = BigInt(charge.cost);
    const toEnd = BigInt(charge.periodEndMs) - now;
    const allowance = charge.allowance === null ? LARGEST : BigInt(charge.allowance);
    const most = charge.allowance === null ? null : charge.overage === 'reject' ? allowance : charge.ceiling === undefined ? null : BigInt(charge.ceiling);
    const denies = cost > 0n && ((most !== null && used + cost > most) || max(used, counted) + cost > LARGEST);
    const wait = !denies ? 0n : most !== null && cost > most ? -1n : toEnd;
    const at = (total: bigint): ChargeState => state(max(0n, allowance - min(LARGEST, max(0n, total + BigInt(plus) - BigInt(minus)))), toEnd, wait);
    const own: Opinion = { passes: !denies, before: at(counted), after: at(counted + cost) };
    const { lane } = charge;
    // Throttled: all within the allowance pass as they are, and what goes past it asks the lane, a look at the next unit too.
    if (denies || lane === undefined || charge.allowance === null || charge.overage !== 'throttle' || used + max(1n, cost) <= allowance) return own;
    const throttled = this.opinion(lane, now, endHint);
    return { passes: throttled.passes, before: { ...own.before, lane: throttled.before }, after: { ...own.after, lane: throttled.after }, lane };
  }
}
