import type { Redis } from 'ioredis';
import { admitted } from '../admitted';
import { atNoCost } from '../at-no-cost';
import type { AdmittedCharge, Check, LimitStore, Verdict } from '../store';
import { requireValidCharges, requireValidRefund } from '../valid-charges';
import { DeadlineWatch, loopInstant, type LoopInstant } from './deadline-watch';
import { decodeBatch } from './decoded-batch';
import { encodeBatch, encodeRefund, type ScriptArg } from './encoded-batch';
import { causeOf, unavailable } from './outage';
import { callScript } from './script-call';

export interface RedisLimitStoreOptions {
  /** A client made by `connectLimitRedis`: others may queue or resend commands, which would break the deadline. The store does not end it. */
  readonly redis: Redis;
  /** Replaces Redis TIME, in ms; release builds never pass it. */
  readonly testClock?: () => number;
  /** Most checks in one call. */
  readonly maxBatch?: number;
}

/** A check between its call and its answer. */
interface Waiter {
  readonly check: Check;
  readonly deadlineAtMs: number;
  readonly resolve: (verdict: Verdict) => void;
  /** Its caller has an answer; what the store still says only matters for a refund. */
  isAnswered: boolean;
}

/** One script call. */
interface Call {
  readonly waiters: readonly Waiter[];
  readonly sentAt: LoopInstant;
  /** When one of its waiters was given up first. */
  missedAtMs: number | undefined;
}

const MAX_BATCH = 64;
/** While one call is in flight a full batch may follow it; more would only queue in Redis. */
const MAX_IN_FLIGHT = 2;
/** How long a refund of a late admission may take: nobody waits for it. */
const LATE_REFUND_MS = 1_000;
/** Store wait that a call gets at least: one that was sent late, behind a crowd of this process, is not given up unheard. */
const MIN_STORE_WAIT_MS = 40;
/**
 * How far past its deadline a caller may be kept while the loop has no idle time at all. Past it two polls are enough for a healthy store: its
 * reply lies in the socket by then. An idle loop gives up at the deadline (P07).
 */
const MAX_LATENESS_MS = 75;
/** A call this long past its deadline has lost its connection, whatever the socket says (half-open). */
const STUCK_MS = 1_000;

/**
 * Counters in Redis. A check goes out at once when nothing is in flight; what gathers meanwhile shares the next call, so that a lone
 * caller pays nothing for the batching and a crowd pays a fraction of a call each.
 */
export class RedisLimitStore implements LimitStore {
  private readonly redis: Redis;
  private readonly testClock: (() => number) | undefined;
  private readonly maxBatch: number;
  private readonly deadlines = new DeadlineWatch((at) => this.expire(at));
  private waiting: Waiter[] = [];
  private readonly inFlight = new Set<Call>();
  private readonly refunds = new Set<Promise<boolean>>();
  private isClosed = false;
  private isSending = false;

  constructor({ redis, testClock, maxBatch = MAX_BATCH }: RedisLimitStoreOptions) {
    this.redis = redis;
    this.testClock = testClock;
    this.maxBatch = maxBatch;
  }

  judgeAndSpend(check: Check, deadlineAtMs: number): Promise<Verdict> {
    return new Promise((resolve) => {
      requireValidCharges(check.charges);
      if (this.isClosed || this.redis.status !== 'ready') {
        resolve(unavailable('disconnected', this.isClosed ? 'store is closed' : `connection is in state ${this.redis.status}`));
        return;
      }
      this.waiting.push({ check, deadlineAtMs, resolve, isAnswered: false });
      this.deadlines.watch(deadlineAtMs);
      if (!this.isSending && (this.inFlight.size === 0 || this.waiting.length >= this.maxBatch)) this.send();
    });
  }

  peek(check: Check, deadlineAtMs: number): Promise<Verdict> {
    return this.judgeAndSpend(atNoCost(check), deadlineAtMs);
  }

  async refund(charges: readonly AdmittedCharge[], deadlineAtMs: number): Promise<boolean> {
    requireValidRefund(charges);
    if (charges.length === 0) return true;
    if (this.redis.status !== 'ready') return false;
    const call = callScript(this.redis, 'refund', encodeRefund(charges, this.nowArg())).then(() => true, () => false);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => setImmediate(resolve, false), Math.max(0, deadlineAtMs - performance.now()));
    });
    return Promise.race([call, late]).finally(() => clearTimeout(timer));
  }

  release(_counter: string): void {
    // No charge of kind slot is admitted, so that there is none to give back.
  }

  get slotsHeld(): number {
    return 0;
  }

  /** Waits for the refunds under way; checks that still wait are answered `unavailable`. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.deadlines.stop();
    for (const waiter of [...this.waiting.splice(0), ...[...this.inFlight].flatMap(({ waiters }) => waiters)]) {
      if (!waiter.isAnswered) answer(waiter, unavailable('disconnected', 'store is closed'));
    }
    await Promise.all(this.refunds);
  }

  private nowArg(): ScriptArg {
    return this.testClock === undefined ? '' : this.testClock();
  }

  /** After a reply: the callers whom it wakes ask again before the turn ends, and share a call instead of sending the first of them alone. */
  private sendSoon(): void {
    if (this.isSending) return;
    this.isSending = true;
    process.nextTick(this.send);
  }

  private readonly send = (): void => {
    this.isSending = false;
    while (this.waiting.length > 0 && this.inFlight.size < MAX_IN_FLIGHT) {
      const call = { waiters: this.waiting.splice(0, this.maxBatch), sentAt: loopInstant(), missedAtMs: undefined };
      this.inFlight.add(call);
      void this.run(call);
    }
  };

  private async run(call: Call): Promise<void> {
    const { waiters } = call;
    const checks = waiters.map((waiter) => waiter.check);
    try {
      const batch = encodeBatch(checks, this.nowArg());
      const reply = await callScript(this.redis, 'judge-and-spend', batch);
      this.settle(waiters, decodeBatch(checks, batch.entries, reply));
    } catch (error) {
      const verdict = unavailable(causeOf(error), error instanceof Error ? error.message : String(error));
      for (const waiter of waiters) if (!waiter.isAnswered) answer(waiter, verdict);
    } finally {
      this.inFlight.delete(call);
      this.sendSoon();
    }
  }

  private settle(waiters: readonly Waiter[], verdicts: readonly Verdict[]): void {
    waiters.forEach((waiter, at) => {
      const verdict = verdicts[at];
      if (verdict === undefined) return;
      if (waiter.isAnswered) this.refundLate(waiter, verdict);
      else answer(waiter, verdict);
    });
  }

  /** Its caller has decided without us: what was spent for nobody goes back. */
  private refundLate({ check }: Waiter, verdict: Verdict): void {
    if (verdict.status !== 'allowed') return;
    const refund = this.refund(admitted(check.charges, verdict), performance.now() + LATE_REFUND_MS);
    this.refunds.add(refund);
    void refund.finally(() => this.refunds.delete(refund));
  }

  /** The budget is store wait: what the loop spent on its own work since the call was sent does not count against the store. */
  private expire(at: LoopInstant): number {
    let nextAtMs = Infinity;
    for (const call of this.inFlight) {
      for (const waiter of call.waiters) {
        if (waiter.isAnswered) continue;
        const leftMs = storeWaitLeftMs(waiter, call.sentAt, at);
        if (leftMs > 0) {
          nextAtMs = Math.min(nextAtMs, at.nowMs + leftMs);
          continue;
        }
        giveUp(waiter);
        call.missedAtMs ??= at.nowMs;
      }
      if (at.nowMs - (call.missedAtMs ?? at.nowMs) > STUCK_MS) this.reconnect();
    }
    return Math.min(nextAtMs, this.expireUnsent(at));
  }

  /**
   * What was never sent is not sent any more once the calls before it are late; a store that answers in time takes it within a turn or two.
   * What was sent stays, for its late answer may have to be refunded.
   */
  private expireUnsent(at: LoopInstant): number {
    let nextAtMs = Infinity;
    const untilLateMs = Math.min(...[...this.inFlight].map((call) => untilLate(call, at)));
    this.waiting = this.waiting.filter((waiter) => {
      const dueAtMs = Math.max(waiter.deadlineAtMs, at.nowMs + untilLateMs);
      if (dueAtMs <= at.nowMs) giveUp(waiter);
      else nextAtMs = Math.min(nextAtMs, dueAtMs);
      return !waiter.isAnswered;
    });
    return nextAtMs;
  }

  private reconnect(): void {
    for (const call of this.inFlight) call.missedAtMs = undefined;
    this.redis.disconnect(true);
  }
}

const answer = (waiter: Waiter, verdict: Verdict): void => {
  waiter.isAnswered = true;
  waiter.resolve(verdict);
};

const giveUp = (waiter: Waiter): void => answer(waiter, unavailable('deadline', 'no answer before the deadline'));

const storeWaitLeftMs = ({ deadlineAtMs }: Waiter, sentAt: LoopInstant, at: LoopInstant): number => {
  const allowedMs = Math.max(MIN_STORE_WAIT_MS, deadlineAtMs - sentAt.nowMs);
  const lastAtMs = Math.max(deadlineAtMs + MAX_LATENESS_MS, sentAt.nowMs + MIN_STORE_WAIT_MS);
  return Math.min(allowedMs - (at.idleMs - sentAt.idleMs), lastAtMs - at.nowMs);
};

/** ms until the store counts as late with a call, whoever waits for it; 0 once it is. */
const untilLate = (call: Call, at: LoopInstant): number => {
  if (call.missedAtMs !== undefined) return 0;
  const waitedMs = Math.max(at.idleMs - call.sentAt.idleMs, at.nowMs - call.sentAt.nowMs - MAX_LATENESS_MS);
  return Math.max(0, MIN_STORE_WAIT_MS - waitedMs);
};
