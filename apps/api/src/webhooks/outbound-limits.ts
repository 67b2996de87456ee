import { ANY_HEAD, admitted, counterKey, slotKey, type Charge, type LimitStore } from '@quotaplane/rate-limit';

/** What is capped for an endpoint. */
export interface OutboundLimit {
  readonly id: string;
  readonly ratePerSecond: number;
  readonly concurrency: number;
}

/** The right to send one delivery now. */
export interface Permit {
  /** After the attempt. */
  release(): void;
  /** Instead, where nothing was sent: the rate gets its unit back. */
  giveBack(): void;
}

/** The store is away: nothing may be sent, since nobody knows what others are sending. What waits is not lost. */
export class LimiterAwayError extends Error {
  override readonly name = 'LimiterAwayError';
}

/** Whose counters these are. '/' cannot occur in a tenant's slug. */
const tagOf = (id: string): string => `webhooks/${id}`;
const DEADLINE_MS = 500;
const WINDOW_MS = 1_000;

/**
 * Rate and concurrency of endpoints, held over all workers by our own limiter: one check takes a slot and a unit of the rate, or neither. Slots of a
 * worker that dies come free with its lease.
 */
export class OutboundLimits {
  constructor(private readonly store: LimitStore) {}

  /** @returns undefined while the endpoint has all it may have @throws {LimiterAwayError} */
  async take(limit: OutboundLimit): Promise<Permit | undefined> {
    const tenant = tagOf(limit.id);
    const slot = slotKey({ tenant, name: 'sending', generation: 1 });
    const rate = counterKey({ tenant, limit: 'sent', algorithm: 'token-bucket', windowMs: WINDOW_MS, scope: 'tenant', subject: '' });
    const charges: Charge[] = [
      { kind: 'slot', counter: slot, limit: limit.concurrency, isRegenerated: false, cost: 1 },
      { kind: 'bucket', counter: rate, limit: limit.ratePerSecond, windowMs: WINDOW_MS, capacity: limit.ratePerSecond, cost: 1 },
    ];
    const check = { tenant, knownHead: ANY_HEAD, fromMs: 0, untilMs: Number.MAX_SAFE_INTEGER, subjectFields: [], charges };
    const verdict = await this.store.judgeAndSpend(check, performance.now() + DEADLINE_MS);
    if (verdict.status === 'denied') return undefined;
    if (verdict.status !== 'allowed') throw new LimiterAwayError(`the outbound limiter does not answer (${verdict.status})`);
    const spent = admitted(charges, verdict).filter(({ kind }) => kind !== 'slot');
    const release = (): void => this.store.release(slot);
    return {
      release,
      giveBack: () => {
        release();
        void this.store.refund(spent, performance.now() + DEADLINE_MS);
      },
    };
  }
}
