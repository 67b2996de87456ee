/**
 * Store time between answers: the last store time heard plus the monotonic time since, also while Redis is away (M2).
 * The node's wall clock decides nothing; it is only the guess before the first answer.
 */
export class StoreClock {
  private offsetMs: number;
  private setAtMs = Number.NEGATIVE_INFINITY;

  /** @param monotonicNow ms that only grow, `performance.now` by default */
  constructor(private readonly monotonicNow: () => number = () => performance.now()) {
    this.offsetMs = Date.now() - this.monotonicNow();
  }

  /** False until the store has answered once: `now()` is then this node's own guess. */
  get isKnown(): boolean {
    return this.setAtMs !== Number.NEGATIVE_INFINITY;
  }

  /** @param storeNowMs Redis TIME of an answer that has just arrived */
  observe(storeNowMs: number): void {
    const atMs = this.monotonicNow();
    const offsetMs = storeNowMs - atMs;
    // A late reply carries an old time: within a second it never pulls the clock back by less than the delay we wait for at most.
    const isLateReply = offsetMs < this.offsetMs && this.offsetMs - offsetMs <= LATE_REPLY_MS && atMs - this.setAtMs < TRUST_MS;
    if (isLateReply) return;
    this.offsetMs = offsetMs;
    this.setAtMs = atMs;
  }

  /** Store time in whole ms. */
  now(): number {
    return this.at(this.monotonicNow());
  }

  /** Reading of the monotonic clock below: what a caller that needs several times of one instant reads once, for {@link at}. */
  monotonicMs(): number {
    return this.monotonicNow();
  }

  /** Store time in whole ms at an instant of the monotonic clock. */
  at(monotonicMs: number): number {
    return Math.floor(monotonicMs + this.offsetMs);
  }
}

/** Longest delay of a reply that is still listened to, in ms. */
const LATE_REPLY_MS = 50;
/** How long the best offset is kept against later ones, in ms, so that drift and small steps back are followed. */
const TRUST_MS = 1_000;
