import type { Check, Verdict } from '../store';
import type { LimitRedis } from './connect-limit-redis';
import type { ScriptArg, SlotArgs } from './encoded-batch';
import { callScript } from './script-call';
import { SlotBook, type Holding, type SlotCall, type SlotOutcome } from './slot-book';

export interface SlotOptions {
  /** Names this life of the process among the holders; a random UUID when left out. Two stores must never share one. */
  readonly incarnation: string;
  /** How long the others keep counting what a silent process held. 1 s to 60 s. */
  readonly leaseMs: number;
  /** In a new generation: how long nothing is given, so that other nodes can write their counts anew. */
  readonly graceMs: number;
  readonly onSlotsLost: ((counter: string, count: number) => void) | undefined;
}

/** What the keeper needs of its store. */
export interface SlotHost {
  readonly redis: LimitRedis;
  nowArg(): ScriptArg;
  /** Counters of one group may be named in one call. */
  groupOf(counter: string): string;
  /** A write was not answered for a second. */
  reconnect(): void;
}

/** When the store may have come back with other data: a connection that is ready again, a cluster's node that went away and will have an heir. */
const NEWS = ['ready', '-node'] as const;
/** Most counters in one write. */
const MAX_COUNTERS = 200;
/** Given up this share of the lease before the store does, so that a loop that is late with its timer still stops before others take the slots. */
const MARGIN = 1 / 20;
/** A write this long under way has lost its connection. */
const STUCK_MS = 1_000;

/** Keeps the store's counts and leases of this process's slots true: renewal each third of the lease, releases once a turn, what failed again soon. */
export class SlotKeeper {
  private readonly book: SlotBook;
  private readonly writing = new Map<string, Promise<void>>();
  private timer: NodeJS.Timeout | undefined;
  private isScheduled = false;
  private isClosed = false;
  private isInUse = false;

  constructor(private readonly host: SlotHost, readonly options: SlotOptions) {
    this.book = new SlotBook(options.leaseMs);
  }

  get held(): number {
    return this.book.held;
  }

  /** Before a check is queued: counts that move to a new generation's key are sent ahead of it. */
  meet(check: Check): void {
    if (this.book.meet(check)) this.flush();
  }

  begin(checks: readonly Check[]): SlotCall | undefined {
    const call = this.book.begin(checks, performance.now());
    if (call !== undefined && !this.isInUse) {
      this.isInUse = true;
      for (const event of NEWS) this.host.redis.on(event, this.rewriteAll);
    }
    return call;
  }

  argsOf(call: SlotCall): SlotArgs {
    const { incarnation, leaseMs, graceMs } = this.options;
    return { incarnation, leaseMs, graceMs, sequence: call.sequence, ownOf: (counter) => call.ownOf(counter) };
  }

  settle(call: SlotCall, checks: readonly Check[], verdicts: readonly (Verdict | undefined)[], isLate: (at: number) => boolean): void {
    const outcomes: SlotOutcome[] = checks.map((check, at) => ({ check, verdict: verdicts[at], isLate: isLate(at) }));
    this.book.settle(call, outcomes);
    this.scheduleWhereDirty();
    this.arm();
  }

  release(counter: string, onLost: (() => void) | undefined): void {
    if (this.book.release(counter, onLost)) this.schedule();
  }

  /** Tells the store what is still to be told. Slots that are held stay so until their lease ends. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    for (const event of NEWS) this.host.redis.off(event, this.rewriteAll);
    await Promise.all(this.writing.values());
    this.flush();
    await Promise.all(this.writing.values());
  }

  /** After an outage the store may have anything: ours comes first. */
  private readonly rewriteAll = (): void => {
    for (const holding of this.book.holdings) this.book.dirty.add(holding);
    this.flush();
  };

  private schedule(): void {
    if (this.isScheduled || this.isClosed) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      this.flush();
      this.arm();
    });
  }

  private scheduleWhereDirty(): void {
    if (this.book.dirty.size > 0) this.schedule();
  }

  /** One write a group at a time; what becomes dirty meanwhile goes with the next. */
  private flush(): void {
    if (this.host.redis.status !== 'ready') return;
    const groups = new Map<string, Holding[]>();
    for (const holding of this.book.dirty) {
      const group = this.host.groupOf(holding.counter);
      if (this.writing.has(group)) continue;
      const dirty = groups.get(group) ?? [];
      if (dirty.length < MAX_COUNTERS) dirty.push(holding);
      groups.set(group, dirty);
    }
    for (const [group, holdings] of groups) {
      const write = this.write(holdings).then((isAnswered) => {
        this.writing.delete(group);
        if (isAnswered) this.scheduleWhereDirty();
        else this.rearm();
      });
      this.writing.set(group, write);
    }
  }

  private async write(holdings: readonly Holding[]): Promise<boolean> {
    const { incarnation, leaseMs } = this.options;
    const sentAtMs = performance.now();
    const sequence = this.book.nextSequence();
    const written = holdings.map((holding) => ({ holding, counter: holding.counter, isHeld: holding.held > 0 }));
    const args: ScriptArg[] = [this.host.nowArg(), incarnation, leaseMs, sequence];
    for (const holding of holdings) {
      args.push(holding.held + holding.pending, holding.isRegenerated ? 1 : 0);
      Object.assign(holding, { lastSequence: sequence, writes: holding.writes + 1 });
      this.book.dirty.delete(holding);
    }
    const call = callScript(this.host.redis, 'assert-slots', { keys: written.map(({ counter }) => counter), args });
    // The cast trusts our own script, whose reply its spec holds to its header.
    const reply = (await this.answerOf(call)) as readonly number[] | undefined;
    written.forEach(({ holding, counter, isHeld }, at) => {
      holding.writes -= 1;
      if (reply?.[at] === 1 && holding.counter === counter && isHeld) holding.leaseUntilMs = Math.max(holding.leaseUntilMs, sentAtMs + leaseMs);
      if (reply === undefined) this.book.dirty.add(holding);
      this.book.tidy(holding);
    });
    return reply !== undefined;
  }

  private async answerOf(call: Promise<unknown>): Promise<unknown> {
    let timer: NodeJS.Timeout | undefined;
    const stuck = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => {
        this.host.reconnect();
        resolve(undefined);
      }, STUCK_MS);
    });
    return Promise.race([call.catch(() => undefined), stuck]).finally(() => clearTimeout(timer));
  }

  private readonly tick = (): void => {
    this.timer = undefined;
    const nowMs = performance.now();
    for (const holding of this.book.holdings) {
      if (holding.held > 0 && nowMs >= this.lostAtMs(holding)) {
        const lost = this.book.lose(holding);
        this.options.onSlotsLost?.(holding.counter, lost);
      }
      if (holding.held > 0 && nowMs >= this.renewAtMs(holding)) this.book.dirty.add(holding);
    }
    this.flush();
    this.arm();
  };

  private lostAtMs(holding: Holding): number {
    return holding.leaseUntilMs - this.options.leaseMs * MARGIN;
  }

  private renewAtMs(holding: Holding): number {
    return holding.leaseUntilMs - (2 * this.options.leaseMs) / 3;
  }

  private rearm(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.arm();
  }

  /** To the earliest renewal or end of a lease; what could not be written is tried again in a twelfth of the lease. */
  private arm(): void {
    if (this.timer !== undefined || this.isClosed) return;
    const nowMs = performance.now();
    const againAtMs = nowMs + this.options.leaseMs / 12;
    let dueAtMs = Infinity;
    for (const holding of this.book.holdings) {
      if (holding.held > 0) dueAtMs = Math.min(dueAtMs, this.lostAtMs(holding), Math.max(this.renewAtMs(holding), againAtMs));
      else if (this.book.dirty.has(holding)) dueAtMs = Math.min(dueAtMs, againAtMs);
    }
    if (dueAtMs === Infinity) return;
    this.timer = setTimeout(this.tick, Math.max(1, dueAtMs - nowMs));
    this.timer.unref();
  }
}
