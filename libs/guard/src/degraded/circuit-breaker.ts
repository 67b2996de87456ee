export interface CircuitBreakerOptions {
  /** Unavailable answers in a row that open it. */
  readonly failureThreshold: number;
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
    this.failures += 1;
    this.isProbing = false;
    if (this.isOpen) this.retryAt = this.options.now() + this.options.openMs;
  }
}
