/** An instant by two clocks: monotonic ms, and the ms this process has spent waiting for events since it started. */
export interface LoopInstant {
  readonly nowMs: number;
  readonly idleMs: number;
}

/**
 * Idle time is the wait for the outside alone: while our own loop is busy, a reply may lie in the socket unread, and that is no
 * slowness of the store.
 */
export const loopInstant = (): LoopInstant => ({ nowMs: performance.now(), idleMs: performance.eventLoopUtilization().idle });

/**
 * One timer for every deadline of a store. It is moved only towards an earlier deadline and never cleared while calls come and go, so that a
 * decision that is answered in time costs no timer at all.
 */
export class DeadlineWatch {
  private timer: NodeJS.Timeout | undefined;
  private dueAtMs = Infinity;

  /**
   * @param expire gives up what is due at the given instant, and answers the earliest deadline left, Infinity for none;
   * deadlines are `performance.now()` instants
   */
  constructor(private readonly expire: (at: LoopInstant) => number) {}

  watch(deadlineAtMs: number): void {
    if (deadlineAtMs < this.dueAtMs) this.arm(deadlineAtMs);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.dueAtMs = Infinity;
  }

  private arm(deadlineAtMs: number): void {
    clearTimeout(this.timer);
    this.dueAtMs = deadlineAtMs;
    this.timer = setTimeout(this.pollTwice, Math.max(1, Math.ceil(deadlineAtMs - performance.now())));
  }

  /** After a stall the reply often lies in the socket already, or the call went out in this very turn: two polls run before anything is given up. */
  private readonly pollTwice = (): void => {
    setImmediate(() => setImmediate(this.giveUp));
  };

  private readonly giveUp = (): void => {
    this.dueAtMs = Infinity;
    const nextAtMs = this.expire(loopInstant());
    if (nextAtMs < this.dueAtMs) this.arm(nextAtMs);
  };
}
