import type { RateCharge } from '../store';

export const RATE_KINDS = ['bucket', 'epoch', 'first-hit', 'log', 'counter', 'queue'] as const;
export type RateKind = (typeof RATE_KINDS)[number];

/** A charge of each kind with the same figures: `limit` units a window, all of which an untouched counter takes at once. For specs. */
export function rateOf(kind: RateKind, counter: string, limit: number, windowMs: number, cost = 1): RateCharge {
  const rate = { counter: `qp:{t}:c:${counter}`, limit, windowMs, cost };
  if (kind === 'bucket') return { ...rate, kind, capacity: limit };
  if (kind === 'queue') return { ...rate, kind, capacity: limit, maxWaitMs: 2 * windowMs };
  if (kind === 'log' || kind === 'counter') return { ...rate, kind };
  return { ...rate, kind: 'window', alignment: kind };
}
