import type { Check, Verdict } from '../store';
import type { LimitRedis } from './connect-limit-redis';
import { loopInstant, type LoopInstant } from './deadline-watch';
import { decodeBatch } from './decoded-batch';
import type { EditedTenants } from './edited-tenants';
import { encodeBatch, type ScriptArg } from './encoded-batch';
import { mayHaveRun, tellDoubt } from './doubt';
import { causeOf, unavailable } from './outage';
import { plainAnswers, type PlainAnswer } from './plain-answers';
import { PlainBatch } from './plain-batch';
import type { CheckBook } from './prepared-check';
import { callScript, callWritten } from './script-call';
import type { SlotKeeper } from './slot-keeper';

/** What a lane needs of its store. */
export interface LaneHost {
  readonly redis: LimitRedis;
  readonly maxBatch: number;
  readonly slots: SlotKeeper;
  readonly checks: CheckBook;
  /** Tenants of the store that were edited just now. */
  readonly edited: EditedTenants;
  nowArg(): ScriptArg;
  /** Sees to it that `expire` runs at that instant. */
  watch(deadlineAtMs: number): void;
  /** An admission whose caller has decided without us: what was spent for nobody goes back. @param isDoubted its caller was told of the doubt before */
  refundLate(check: Check, verdict: Extract<Verdict, { status: 'allowed' | 'denied' }>, isDoubted: boolean): void;
  /** A call is so late that its connection must be gone. */
  reconnect(lane: BatchLane): void;
  /** Nothing waits here, and nothing is under way. */
  idle(lane: BatchLane): void;
}

/** A check between its call and its answer. */
class Waiter {
  /** Its caller has an answer; what the store still says only matters for a refund. */
  isAnswered = false;

  /**
   * @param since where its budget began, for the later parts of a check in several; else when its call is sent
   * @param isPlain for judge-plain.lua, which answers nearly all; false for the other script, which answers everything
   */
  constructor(
    readonly check: Check,
    readonly deadlineAtMs: number,
    public since: LoopInstant | undefined,
    public isPlain: boolean,
    readonly resolve: (verdict: Verdict) => void,
  ) {}
}

/** One script call. */
interface Call {
  readonly waiters: readonly Waiter[];
  readonly sentAt: LoopInstant;
  /** When one of its waiters was given up first. */
  missedAtMs: number | undefined;
  /** Its callers were told that the store may have counted it. */
  isDoubted: boolean;
  /** Once it is answered, or has failed. */
  done: Promise<void> | undefined;
}

/** Asks the store once for all; an error is that of the call. */
type Judge = (waiters: readonly Waiter[]) => Promise<PlainAnswer[]>;

/** While one call is in flight a full batch may follow it; more would only queue in Redis. A batch for both scripts is two calls. */
const MAX_IN_FLIGHT = 2;
/** So many that wait are worth the cost of a second call. */
const WORTH_TWO = 48;
/** Most checks of a call that may name slots: what is under way counts as held, so that larger calls would deny more than has to be. */
const MAX_ANY = 64;
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
 * Checks whose keys may share a call. One goes out at once when nothing is in flight; what gathers meanwhile shares the next call, so that a lone
 * caller pays nothing for the batching and a crowd pays a fraction of a call each.
 */
export class BatchLane {
  private waiting: Waiter[] = [];
  /** Two or three at most. No Set, whose outgrown tables keep dead calls alive until the next full collection. */
  private readonly inFlight: Call[] = [];
  private isSending = false;
  /** Batches that no call is using. */
  private readonly spare: PlainBatch[] = [];

  /** @param tag hash tag of all its keys; '' where one server has them all */
  constructor(private readonly host: LaneHost, readonly tag: string) {}

  /**
   * @param check whose charges are valid
   * @param since where the budget of the whole check began, when this is a later part of it
   */
  judge(check: Check, deadlineAtMs: number, since?: LoopInstant): Promise<Verdict> {
    const { checks, edited, maxBatch } = this.host;
    const isPlain = checks.prepared(check).isPlain && !edited.has(check.tenant);
    const verdict = new Promise<Verdict>((resolve) => {
      this.waiting.push(new Waiter(check, deadlineAtMs, since, isPlain, resolve));
    });
    this.host.watch(deadlineAtMs);
    if (!this.isSending && (this.inFlight.length === 0 || this.waiting.length >= maxBatch)) this.send();
    return verdict;
  }

  /** Answers all that wait, once and for all. */
  abandon(verdict: Verdict): void {
    for (const waiter of [...this.waiting.splice(0), ...this.inFlight.flatMap(({ waiters }) => waiters)]) {
      if (!waiter.isAnswered) answer(waiter, verdict);
    }
  }

  /** Waits for the calls under way, so that what they spent for nobody is known; what is not answered by then stays in doubt. */
  async drained(forMs: number): Promise<void> {
    const calls = [...this.inFlight];
    if (calls.length === 0) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, forMs);
    });
    await Promise.race([Promise.all(calls.map(({ done }) => done)), late]).finally(() => clearTimeout(timer));
    for (const call of calls) if (this.inFlight.includes(call)) doubt(call);
  }

  /**
   * Gives up what is due. The budget is store wait: what the loop spent on its own work since the call was sent does not count against the store.
   * @returns the earliest deadline left, Infinity for none
   */
  expire(at: LoopInstant): number {
    let nextAtMs = Infinity;
    for (const call of this.inFlight) {
      for (const waiter of call.waiters) {
        if (waiter.isAnswered) continue;
        const leftMs = storeWaitLeftMs(waiter, waiter.since ?? call.sentAt, at);
        if (leftMs > 0) {
          nextAtMs = Math.min(nextAtMs, at.nowMs + leftMs);
          continue;
        }
        giveUp(waiter);
        call.missedAtMs ??= at.nowMs;
      }
      if (at.nowMs - (call.missedAtMs ?? at.nowMs) > STUCK_MS) this.reconnect();
      // Watched on without traffic, too: until its connection is gone nobody knows that its reply never comes.
      if (call.missedAtMs !== undefined) nextAtMs = Math.min(nextAtMs, call.missedAtMs + STUCK_MS + 1);
    }
    return Math.min(nextAtMs, this.expireUnsent(at));
  }

  /**
   * What was never sent is not sent any more once the calls before it are late; a store that answers in time takes it within a turn or two.
   * What was sent stays, for its late answer may have to be refunded.
   */
  private expireUnsent(at: LoopInstant): number {
    let nextAtMs = Infinity;
    const untilLateMs = Math.min(...this.inFlight.map((call) => untilLate(call, at)));
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
    this.host.reconnect(this);
  }

  /** After a reply: the callers whom it wakes ask again before the turn ends, and share a call instead of sending the first of them alone. */
  private sendSoon(): void {
    if (this.isSending) return;
    this.isSending = true;
    process.nextTick(this.send);
  }

  private readonly send = (): void => {
    this.isSending = false;
    while (this.waiting.length > 0 && this.inFlight.length < MAX_IN_FLIGHT) {
      const taken = this.take();
      const plain = taken.every(isPlain) ? taken : taken.filter(isPlain);
      if (plain.length > 0) this.start(plain, this.judgePlain);
      if (plain.length < taken.length) this.start(taken.filter((waiter) => !waiter.isPlain), this.judgeAny);
    }
    if (this.inFlight.length === 0) this.host.idle(this);
  };

  private take(): Waiter[] {
    const { waiting } = this;
    const share = this.share();
    if (share < waiting.length) return waiting.splice(0, share);
    this.waiting = [];
    return waiting;
  }

  /** A crowd goes in two calls, so that the store judges one while this process reads the other. */
  private share(): number {
    const { length } = this.waiting;
    if (!this.waiting.every(isPlain)) return Math.min(this.host.maxBatch, MAX_ANY);
    return Math.min(this.host.maxBatch, length >= WORTH_TWO && this.inFlight.length === 0 ? Math.ceil(length / 2) : length);
  }

  private start(waiters: readonly Waiter[], judge: Judge): void {
    const call: Call = { waiters, sentAt: loopInstant(), missedAtMs: undefined, isDoubted: false, done: undefined };
    this.inFlight.push(call);
    call.done = this.run(call, judge);
  }

  private async run(call: Call, judge: Judge): Promise<void> {
    const { waiters } = call;
    let verdicts: PlainAnswer[] = [];
    let isSent = false;
    try {
      // A client that has ended says of a call that it never sent what it says of one that it did.
      isSent = this.host.redis.status !== 'end';
      verdicts = await judge(waiters);
    } catch (error) {
      const verdict = unavailable(causeOf(error), error instanceof Error ? error.message : String(error));
      for (const waiter of waiters) if (!waiter.isAnswered) answer(waiter, verdict);
      if (isSent && mayHaveRun(error)) doubt(call);
    } finally {
      this.settle(call, verdicts);
      this.inFlight.splice(this.inFlight.indexOf(call), 1);
      this.sendSoon();
    }
  }

  private readonly judgePlain: Judge = async (waiters) => {
    const { redis, checks: book } = this.host;
    const checks = waiters.map(checkOf);
    const batch = this.spare.pop() ?? new PlainBatch(book);
    try {
      return plainAnswers(checks, batch, await callWritten(redis, 'judge-plain', batch.fill(checks, this.host.nowArg())));
    } finally {
      this.spare.push(batch);
    }
  };

  private readonly judgeAny: Judge = async (waiters) => {
    const { redis, slots } = this.host;
    const checks = waiters.map(checkOf);
    const slotCall = slots.begin(checks);
    let verdicts: Verdict[] = [];
    try {
      const batch = encodeBatch(checks, this.host.nowArg(), slotCall && slots.argsOf(slotCall));
      verdicts = decodeBatch(checks, batch.entries, await callScript(redis, 'judge-and-spend', batch));
      return verdicts;
    } finally {
      if (slotCall !== undefined) slots.settle(slotCall, checks, verdicts, (at) => waiters[at]?.isAnswered === true);
    }
  };

  private settle({ waiters, sentAt, isDoubted }: Call, verdicts: readonly PlainAnswer[]): void {
    const stale: Waiter[] = [];
    for (let at = 0; at < waiters.length; at += 1) {
      const [waiter, verdict] = [waiters[at], verdicts[at]];
      if (waiter === undefined || verdict === undefined) continue;
      if (!waiter.isPlain && verdict !== 'stale' && verdict.status !== 'stale') this.host.edited.settled(waiter.check.tenant);
      if (waiter.isAnswered) {
        if (verdict !== 'stale' && verdict.status === 'allowed') this.host.refundLate(waiter.check, verdict, isDoubted);
      } else if (verdict === 'stale') stale.push(waiter);
      else answer(waiter, verdict);
    }
    if (stale.length > 0) this.askAnew(stale, sentAt);
  }

  /** Nothing was spent: the other script says what is current, ahead of all who wait, and within the same budget. */
  private askAnew(waiters: readonly Waiter[], sentAt: LoopInstant): void {
    for (const waiter of waiters) {
      waiter.isPlain = false;
      waiter.since ??= sentAt;
      this.host.edited.add(waiter.check.tenant);
    }
    this.waiting.unshift(...waiters);
  }
}

const isPlain = (waiter: Waiter): boolean => waiter.isPlain;
const checkOf = (waiter: Waiter): Check => waiter.check;

const answer = (waiter: Waiter, verdict: Verdict): void => {
  waiter.isAnswered = true;
  waiter.resolve(verdict);
};

const doubt = (call: Call): void => {
  if (call.isDoubted) return;
  call.isDoubted = true;
  for (const { check } of call.waiters) tellDoubt(check);
};

const giveUp = (waiter: Waiter): void => answer(waiter, unavailable('deadline', 'no answer before the deadline'));

const storeWaitLeftMs = ({ deadlineAtMs }: Waiter, since: LoopInstant, at: LoopInstant): number => {
  const allowedMs = Math.max(MIN_STORE_WAIT_MS, deadlineAtMs - since.nowMs);
  const lastAtMs = Math.max(deadlineAtMs + MAX_LATENESS_MS, since.nowMs + MIN_STORE_WAIT_MS);
  return Math.min(allowedMs - (at.idleMs - since.idleMs), lastAtMs - at.nowMs);
};

/** ms until the store counts as late with a call, whoever waits for it; 0 once it is. */
const untilLate = (call: Call, at: LoopInstant): number => {
  if (call.missedAtMs !== undefined) return 0;
  const waitedMs = Math.max(at.idleMs - call.sentAt.idleMs, at.nowMs - call.sentAt.nowMs - MAX_LATENESS_MS);
  return Math.max(0, MIN_STORE_WAIT_MS - waitedMs);
};
