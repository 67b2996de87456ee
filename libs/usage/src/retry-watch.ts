import type { OffenderSubject } from './offender-minute';

/** How the next call after a denial came: before the instant that was told, or after it, and then let through or denied once more. */
export type RetryResult = 'early' | 'passed' | 'denied_again';
export const RETRY_RESULTS: readonly RetryResult[] = ['early', 'passed', 'denied_again'];

/** What a client was told with a denial. */
export interface ToldWait {
  /** Whom the denial was counted to. */
  readonly subject: OffenderSubject;
  /** Store time in ms. */
  readonly deniedAtMs: number;
  /** As it was told: the Retry-After, in ms. */
  readonly retryAfterMs: number;
}

export interface RetryWatchOptions {
  /** Told of each retry, once. */
  readonly onRetry?: (result: RetryResult, subject: OffenderSubject) => void;
  /** Clients remembered, default 10,000; past it the one that was told longest ago is forgotten, and counted in `forgotten`. */
  readonly maxClients?: number;
}

/** Node's timers fire up to 1 ms early, and the nodes' views of store time differ by a few; a wait is told in whole seconds, rounded up. */
const TOLERANCE_MS = 20;

/**
 * Whether clients wait as told: remembers each client's last denial and judges its next call. Pure, O(1), bounded. Each decision is told once,
 * by {@link denied} or by {@link called}. A node sees its own calls only: a retry that another node answers is judged there or not at all.
 *
 * `client` names who would retry what: the caller (key, user or address, never only the tenant) and the endpoint class, since nobody was told
 * to keep away from other classes.
 */
export class RetryWatch {
  readonly totals: Record<RetryResult, number> = { early: 0, passed: 0, denied_again: 0 };
  /** Clients let go for want of room before they came back. */
  forgotten = 0;
  /** In the order of their denials: a renewed one goes to the end. */
  private readonly told = new Map<string, { readonly subject: OffenderSubject; readonly untilMs: number }>();
  /** Clients remembered by tenant. */
  private readonly ofTenant = new Map<string, number>();

  constructor(private readonly options: RetryWatchOptions = {}) {}

  /** A denial that told the client to wait; one that did not (blocked, cost above the limit) is not for here. */
  denied(client: string, { subject, deniedAtMs, retryAfterMs }: ToldWait): RetryResult | undefined {
    const result = this.judge(client, deniedAtMs, 'denied_again');
    if (this.told.size >= (this.options.maxClients ?? 10_000)) this.forgetOldest();
    this.told.set(client, { subject, untilMs: deniedAtMs + retryAfterMs });
    this.ofTenant.set(subject.tenant, (this.ofTenant.get(subject.tenant) ?? 0) + 1);
    return result;
  }

  /** A call that was let through. @param atMs store time in ms */
  called(client: string, atMs: number): RetryResult | undefined {
    return this.judge(client, atMs, 'passed');
  }

  /** False where no client of the tenant was told to wait: nothing can be said of its calls, so that naming their callers is spared. */
  isWatching(tenant: string): boolean {
    return this.told.size > 0 && this.ofTenant.has(tenant);
  }

  get size(): number {
    return this.told.size;
  }

  /** @returns undefined where the client had not been told anything */
  private judge(client: string, atMs: number, afterWaiting: RetryResult): RetryResult | undefined {
    const known = this.told.get(client);
    if (!known) return undefined;
    this.forget(client, known.subject);
    const result = atMs < known.untilMs - TOLERANCE_MS ? 'early' : afterWaiting;
    this.totals[result] += 1;
    this.options.onRetry?.(result, known.subject);
    return result;
  }

  private forgetOldest(): void {
    for (const [oldest, { subject }] of this.told) {
      this.forget(oldest, subject);
      this.forgotten += 1;
      return;
    }
  }

  private forget(client: string, { tenant }: OffenderSubject): void {
    this.told.delete(client);
    const left = (this.ofTenant.get(tenant) ?? 1) - 1;
    if (left > 0) this.ofTenant.set(tenant, left);
    else this.ofTenant.delete(tenant);
  }
}
