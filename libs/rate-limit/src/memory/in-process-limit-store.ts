import { atNoCost } from '../at-no-cost';
import type { CounterKind } from '../models/counter-models';
import type { CounterState } from '../models/counter-state';
import { judgeCheck, lengthenedTo, type CheckJudgement, type CounterBook } from '../models/judge-check';
import { refundCharge } from '../models/refund-charge';
import type { AdmittedCharge, Check, LimitStore, Verdict } from '../store';
import { requireValidCharges, requireValidRefund } from '../valid-charges';
import { ExpiryQueue, type Expiry } from './expiry-queue';
import { admittedNothing } from './full-memory';

export interface InProcessLimitStoreOptions {
  /** Most counters kept; a new one past it is denied. */
  readonly maxCounters: number;
  /** Store time in whole ms. */
  readonly now: () => number;
}

interface Counter {
  readonly kind: CounterKind;
  /** undefined: untouched. Kept in place of being dropped, so that a counter and its expiry stay a pair. */
  state: CounterState | undefined;
  expiresAtMs: number;
}

/** A counter whose slots are held is looked at again after this. */
const HELD_MS = 60_000;
const NO_BASE = { plus: 0, minus: 0 };

/**
 * Counters of one process on the same models as the script. Heads are not asked: there is nobody who could publish another one.
 * Memory is bounded: when it is full and nothing has expired, a check that needs a new counter is denied rather than an old one forgotten.
 */
export class InProcessLimitStore implements LimitStore {
  private readonly counters = new Map<string, Counter>();
  /** One entry a counter. A counter that lives longer by now is queued anew when its entry comes up. */
  private readonly expiries = new ExpiryQueue();
  private readonly book: CounterBook = {
    read: (kind, name) => {
      const counter = this.counters.get(name);
      return counter?.kind === kind ? counter.state : undefined;
    },
    base: () => NO_BASE,
  };

  slotsHeld = 0;

  constructor(private readonly options: InProcessLimitStoreOptions) {}

  judgeAndSpend(check: Check, _deadlineAtMs: number): Promise<Verdict> {
    return new Promise((resolve) => {
      requireValidCharges(check.charges);
      resolve(this.judge(check, this.options.now()));
    });
  }

  peek(check: Check, deadlineAtMs: number): Promise<Verdict> {
    return this.judgeAndSpend(atNoCost(check), deadlineAtMs);
  }

  async refund(charges: readonly AdmittedCharge[], _deadlineAtMs: number): Promise<boolean> {
    requireValidRefund(charges);
    const nowMs = this.options.now();
    for (const charge of charges) {
      if (charge.kind === 'slot') continue;
      const counter = this.counters.get(charge.counter);
      const change = refundCharge(this.book, charge, nowMs);
      if (counter === undefined || change === undefined) continue;
      counter.state = change.kind === 'drop' ? undefined : change.state;
    }
    return true;
  }

  release(name: string): void {
    const counter = this.counters.get(name);
    const change = refundCharge(this.book, { kind: 'slot', counter: name, units: 1 }, this.options.now());
    if (counter === undefined || change === undefined) return;
    counter.state = change.kind === 'drop' ? undefined : change.state;
    this.slotsHeld -= 1;
  }

  close(): Promise<void> {
    this.counters.clear();
    this.slotsHeld = 0;
    return Promise.resolve();
  }

  private judge(check: Check, nowMs: number): Verdict {
    if (nowMs < check.fromMs || nowMs >= check.untilMs) return { status: 'outside', nowMs };
    const judgement = judgeCheck(this.book, check, nowMs);
    const added = [...judgement.changes.keys()].filter((counter) => !this.counters.has(counter));
    if (added.length > 0 && !this.makeRoom(added.length, nowMs)) {
      const roomAfterMs = Math.max(1, (this.firstExpiry(nowMs)?.atMs ?? nowMs) - nowMs);
      const { states } = judgeCheck(this.book, atNoCost(check), nowMs);
      return { status: 'denied', nowMs, states: admittedNothing(check, states, new Set(added), roomAfterMs) };
    }
    this.apply(judgement, nowMs);
    if (judgement.status === 'allowed') for (const { kind, cost } of check.charges) if (kind === 'slot' && cost > 0) this.slotsHeld += 1;
    return { status: judgement.status, nowMs, states: judgement.states };
  }

  private apply({ changes }: CheckJudgement, nowMs: number): void {
    for (const [name, change] of changes) {
      const counter = this.counters.get(name);
      if (change.kind === 'lengthen') {
        if (counter !== undefined) counter.expiresAtMs = Math.max(counter.expiresAtMs, nowMs + lengthenedTo(change.ttlMs));
      } else if (counter?.kind === change.of) {
        counter.state = change.state;
        counter.expiresAtMs = nowMs + change.ttlMs;
      } else {
        const expiresAtMs = nowMs + change.ttlMs;
        this.counters.set(name, { kind: change.of, state: change.state, expiresAtMs });
        if (counter === undefined) this.expiries.push({ atMs: expiresAtMs, counter: name });
      }
    }
  }

  /** Drops expired counters until `wanted` more fit. */
  private makeRoom(wanted: number, nowMs: number): boolean {
    while (this.counters.size + wanted > this.options.maxCounters) {
      const first = this.firstExpiry(nowMs);
      if (first === undefined || first.atMs > nowMs) return false;
      this.expiries.pop();
      this.counters.delete(first.counter);
    }
    return true;
  }

  /** The earliest expiry, after those of counters that live longer by now have been queued anew. */
  private firstExpiry(nowMs: number): Expiry | undefined {
    for (let first = this.expiries.first; first !== undefined; first = this.expiries.first) {
      const expiresAtMs = this.lifeOf(first, nowMs);
      if (expiresAtMs <= first.atMs) return first;
      this.expiries.pop();
      this.expiries.push({ atMs: expiresAtMs, counter: first.counter });
    }
    return undefined;
  }

  /** Slots that are held live on, however long ago they were taken. */
  private lifeOf({ counter: name, atMs }: Expiry, nowMs: number): number {
    const counter = this.counters.get(name);
    if (counter === undefined) return atMs;
    return counter.kind === 'slot' && counter.state !== undefined ? Math.max(counter.expiresAtMs, nowMs + HELD_MS) : counter.expiresAtMs;
  }
}
