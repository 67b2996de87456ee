/**
 * A clock that stands still until a test moves it.
 * Pass `clock.now` wherever code takes a `() => number` of milliseconds since the epoch.
 */
export class TestClock {
  private nowMs: number;

  /** @param startMs whole milliseconds since the epoch */
  constructor(startMs: number = Date.UTC(2026, 0, 15, 12)) {
    this.nowMs = startMs;
  }

  /** Bound, so that it can be handed over as a plain function. */
  readonly now = (): number => this.nowMs;

  /** @param byMs may be negative: a store's clock can step back */
  advance(byMs: number): void {
    this.nowMs += byMs;
  }

  set(toMs: number): void {
    this.nowMs = toMs;
  }
}
