import { atNoCost } from '../at-no-cost';
import type { CounterState } from '../models/counter-state';
import { judgeCheck, lengthenedTo, type CheckJudgement, type CounterBook } from '../models/judge-check';
import { refundCharge } from '../models/refund-charge';
import type { AdmittedCharge, Charge, Check, LimitStore, Verdict } from '../store';
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
  readonly kind: Charge['kind'];
  /** undefined: untouched. Kept in place of being dropped, so that a counter and its expiry stay a pair. */
  state: CounterState | undefined;
  expiresAtMs: number;
}

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
      const counter = this.counters.get(charge.counter);
      const change = refundCharge(this.book, charge, nowMs);
      if (counter === undefined || change === undefined) continue;
      counter.state = change.kind === 'drop' ? undefined : change.state;
    }
    return true;
  }

  release(_counter: string): void {
    // No charge of kind slot is admitted, so that there is none to give back.
  }

  get slotsHeld(): number {
    return 0;
  }

  close(): Promise<void> {
    this.counters.clear();
    return Promise.resolve();
  }

  private judge(check: Check, nowMs: number): Verdict {
    if (nowMs < check.fromMs || nowMs >= check.untilMs) return { status: 'outside', nowMs };
    const judgement = judgeCheck(this.book, check, nowMs);
    const added = [...judgement.changes.keys()].filter((counter) => !this.counters.has(counter));
    if (added.length > 0 && !this.makeRoom(added.length, nowMs)) {
      const roomAfterMs = Math.max(1, (this.firstExpiry()?.atMs ?? nowMs) - nowMs);
      const { states } = judgeCheck(this.book, atNoCost(check), nowMs);
      return { status: 'denied', nowMs, states: admittedNothing(check, states, new Set(added), roomAfterMs) };
    }
    this.apply(judgement, nowMs);
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
      const first = this.firstExpiry();
      if (first === undefined || first.atMs > nowMs) return false;
      this.expiries.pop();
      this.counters.delete(first.counter);
    }
    return true;
  }

  /** The earliest expiry, after those of counters that live longer by now have been queued anew. */
  private firstExpiry(): Expiry | undefined {
    for (let first = this.expiries.first; first !== undefined; first = this.expiries.first) {
      const expiresAtMs = this.counters.get(first.counter)?.expiresAtMs ?? first.atMs;
      if (expiresAtMs <= first.atMs) return first;
      this.expiries.pop();
      this.expiries.push({ atMs: expiresAtMs, counter: first.counter });
    }
    return undefined;
  }
}
