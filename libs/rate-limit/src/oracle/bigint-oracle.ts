import type { Charge, ChargeState, QuotaCharge, RateCharge } from '../store';

/**
 * A second opinion on every decision, in BigInt and from the whole history instead of a running state; written without looking at the
 * models or the scripts. A bucket's debt is the largest backlog over all starting points (Lindley's formula), a window's count is the sum of what fell into it.
 * Clocks here only go forward; steps back are held by the model's own spec.
 */
interface Spent {
  readonly at: bigint;
  readonly units: bigint;
  /** Drain per ms from the spending before this one up to it: the limit in force when it was judged. */
  readonly drainedAt: bigint;
}

const ceilDiv = (a: bigint, b: bigint): bigint => (a <= 0n ? 0n : (a + b - 1n) / b);
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);

interface Opinion {
  readonly passes: boolean;
  readonly before: ChargeState;
  readonly after: ChargeState;
}

const state = (remaining: bigint, resetAfterMs: bigint, retryAfterMs: bigint): ChargeState => ({
  remaining: Number(remaining), resetAfterMs: Number(resetAfterMs), retryAfterMs: Number(retryAfterMs), moreAfterMs: 0,
});

export class BigIntOracle {
  private readonly history = new Map<string, Spent[]>();

  /** Judges all charges at `nowMs`; spends all of them, or none. */
  judge(charges: readonly Charge[], nowMs: number, untilMs: number): { readonly allowed: boolean; readonly states: readonly ChargeState[] } {
    const now = BigInt(nowMs);
    const endHint = min(BigInt(untilMs) - now, 86_400_000n);
    const opinions = charges.map((charge) => this.opinion(charge, now, endHint));
    const allowed = opinions.every((opinion) => opinion.passes);
    if (allowed) for (const charge of charges) this.spend(charge, now);
    return { allowed, states: opinions.map((opinion) => (allowed ? opinion.after : opinion.before)) };
  }

  private spend(charge: Charge, at: bigint): void {
    if (charge.cost === 0) return;
    const list = this.history.get(charge.counter) ?? [];
    const drainedAt = charge.kind === 'bucket' ? BigInt(charge.limit) : 0n;
    this.history.set(charge.counter, [...list, { at, units: BigInt(charge.cost), drainedAt }]);
  }

  private opinion(charge: Charge, now: bigint, endHint: bigint): Opinion {
    if (charge.kind !== 'bucket' && charge.kind !== 'window' && charge.kind !== 'quota') throw new TypeError(`no opinion on charges of kind ${charge.kind}`);
    if ((charge.kind === 'quota' ? charge.allowance : charge.limit) === 0) {
      const denied = state(0n, 0n, endHint);
      return { passes: false, before: denied, after: denied };
    }
    if (charge.kind === 'quota') return this.ofQuota(charge, now);
    return charge.kind === 'bucket' ? this.ofBucket(charge, now) : this.ofWindow(charge, now);
  }

  private ofBucket(charge: Extract<RateCharge, { kind: 'bucket' }>, now: bigint): Opinion {
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

  private ofQuota(charge: QuotaCharge, now: bigint): Opinion {
    const used = (this.history.get(charge.counter) ?? []).reduce((sum, event) => sum + event.units, 0n);
    const cost = BigInt(charge.cost);
    const toEnd = BigInt(charge.periodEndMs) - now;
    const allowance = charge.allowance === null ? null : BigInt(charge.allowance);
    const denies = allowance !== null && charge.overage === 'reject' && cost > 0n && used + cost > allowance;
    const isHopeless = allowance !== null && cost > allowance;
    const left = (spent: bigint): bigint => (allowance === null ? BigInt(Number.MAX_SAFE_INTEGER) - spent : max(0n, allowance - spent));
    return {
      passes: !denies,
      before: state(left(used), toEnd, denies ? (isHopeless ? -1n : toEnd) : 0n),
      after: state(left(used + cost), toEnd, 0n),
    };
  }
}
