import { queueCapacity, type Algorithm, type CompiledLimit } from '@quotaplane/contracts';
import type { PenaltyRule, RateCharge } from '@quotaplane/rate-limit';

/** What the store is asked for a limit of each algorithm. */
export const CHARGE_KINDS: Readonly<Record<Algorithm, RateCharge['kind']>> = {
  'token-bucket': 'bucket',
  gcra: 'bucket',
  'leaky-bucket': 'queue',
  'fixed-window': 'window',
  'sliding-log': 'log',
  'sliding-counter': 'counter',
};

/** Units that are available while nothing is used: a bucket's burst, a queue with the call that departs, a window's limit; 0 where the limit is 0. */
export function capacityOf({ algorithm, limit, burst, maxQueue }: CompiledLimit & { readonly limit: number }): number {
  if (limit === 0) return 0;
  const kind = CHARGE_KINDS[algorithm];
  if (kind === 'queue') return queueCapacity(limit, maxQueue);
  return kind === 'bucket' ? (burst ?? limit) : limit;
}

/** A limit with its numbers ready to be charged. */
export interface ChargedLimit {
  readonly limit: CompiledLimit & { readonly limit: number };
  readonly kind: RateCharge['kind'];
  readonly capacity: number;
}

/** What names the counter of a charge and the strikes beside it. */
export interface ChargedCounter {
  readonly counter: string;
  readonly penalty?: PenaltyRule | undefined;
}

/** Part of a limit or a capacity that this node may give away alone. */
export type ShareOf = (units: number) => number;

/** The charge of one limit where the store decides for all nodes. */
export function rateCharge(rate: ChargedLimit, counted: ChargedCounter, cost: number): RateCharge {
  return chargeOf(rate, counted, cost, rate.limit.limit, rate.capacity);
}

/** The charge of this node's share, for its own counters: all shares together are the limit, never more. */
export function sharedCharge(rate: ChargedLimit, counted: ChargedCounter, cost: number, shareOf: ShareOf): RateCharge {
  const capacity = shareOf(rate.capacity);
  const limit = capacity === 0 ? 0 : shareOf(rate.limit.limit);
  return chargeOf(rate, counted, cost, limit, limit === 0 ? 0 : capacity);
}

function chargeOf({ kind, limit: rule }: ChargedLimit, { counter, penalty }: ChargedCounter, cost: number, limit: number, capacity: number): RateCharge {
  const charge = bareCharge(kind, rule, counter, cost, limit, capacity);
  return penalty === undefined ? charge : { ...charge, penalty };
}

function bareCharge(kind: RateCharge['kind'], rule: CompiledLimit, counter: string, cost: number, limit: number, capacity: number): RateCharge {
  const { windowMs } = rule;
  switch (kind) {
    case 'bucket':
      return { kind, counter, limit, windowMs, capacity, cost };
    case 'queue':
      return { kind, counter, limit, windowMs, capacity, maxWaitMs: rule.maxWaitMs ?? windowMs, cost };
    case 'window':
      return { kind, counter, limit, windowMs, alignment: rule.alignment ?? 'epoch', cost };
    case 'log':
    case 'counter':
      return { kind, counter, limit, windowMs, cost };
  }
}
