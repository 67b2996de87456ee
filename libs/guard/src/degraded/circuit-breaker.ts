export interface CircuitBreakerOptions {
  /** Failures in a row that open it. */
  readonly failureThreshold: number;
  /** Failures closer together than this, in ms, are one: calls that waited for the same stall are no proof of an outage. */
  readonly spacingMs: number;
  /** How long the store is left alone before the next probe, in ms. */
  readonly openMs: number;
  /** Monotonic ms. */
  readonly now: () => number;
}

/**
 * Keeps calls away from a store that does not answer, so that an outage costs a few of them a wait and the rest none. While open, one call at a
 * time goes through as a probe; its success closes the circuit at once. Answers such as `stale` prove that the store is there and count as such.
 */
export class CircuitBreaker {
  private failures = 0;
  private countedAt = Number.NEGATIVE_INFINITY;
  private retryAt = 0;
  private isProbing = false;

  constructor(private readonly options: CircuitBreakerOptions) {}

  get isOpen(): boolean {
    return this.failures >= this.options.failureThreshold;
  }

  /** Whether this call may ask the store. A caller that was let in reports back with {@link succeeded} or {@link failed}. */
  mayPass(): boolean {
    if (!this.isOpen) return true;
    if (this.isProbing || this.options.now() < this.retryAt) return false;
    this.isProbing = true;
    return true;
  }

  succeeded(): void {
    this.failures = 0;
    this.isProbing = false;
  }

  failed(): void {
    const now = this.options.now();
    this.isProbing = false;
    if (now - this.countedAt >= this.options.spacingMs) {
      this.failures += 1;
      this.countedAt = now;
    }
    if (this.isOpen) this.retryAt = now + this.options.openMs;
  }
}
