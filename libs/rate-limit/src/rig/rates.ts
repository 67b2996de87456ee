import type { Alignment } from '@quotaplane/contracts';
import { counterKey } from '../counter-key';
import type { ChargeState, QuotaCharge, RateCharge, Verdict } from '../store';

/** A whole minute and hour of a whole day, so that aligned windows start here. For specs. */
export const DAY_START_MS = Date.UTC(2026, 11, 1);
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;

/** Every algorithm of a rate; a fixed window in both alignments. */
export const KINDS = ['bucket', 'epoch', 'first-hit', 'log', 'counter', 'queue'] as const;
export type RateKind = (typeof KINDS)[number];

const ALGORITHMS = {
  bucket: 'token-bucket', epoch: 'fixed-window', 'first-hit': 'fixed-window', log: 'sliding-log', counter: 'sliding-counter', queue: 'leaky-bucket',
} as const;

const keyOf = (name: string): string => `qp:{t}:c:${name}`;

export const bucketOf = (name: string, limit: number, windowMs: number, capacity = limit): RateCharge & { kind: 'bucket' } => ({ kind: 'bucket', counter: keyOf(name), limit, windowMs, capacity, cost: 1 });
export const windowOf = (name: string, limit: number, windowMs: number, alignment: Alignment): RateCharge => ({ kind: 'window', counter: keyOf(name), limit, windowMs, alignment, cost: 1 });
export const logOf = (name: string, limit: number, windowMs: number): RateCharge => ({ kind: 'log', counter: keyOf(name), limit, windowMs, cost: 1 });
export const slidingOf = (name: string, limit: number, windowMs: number): RateCharge => ({ kind: 'counter', counter: keyOf(name), limit, windowMs, cost: 1 });
export const queueOf = (name: string, limit: number, windowMs: number, capacity = limit, maxWaitMs = 86_400_000): RateCharge & { kind: 'queue' } => ({ kind: 'queue', counter: keyOf(name), limit, windowMs, capacity, maxWaitMs, cost: 1 });

export const quotaOf = (allowance: number | null): QuotaCharge => ({
  kind: 'quota', counter: 'qp:{t}:q:requests:2026-12-01:1:1', base: 'qp:{t}:b:requests:2026-12-01:1:1', allowance, overage: 'reject', periodEndMs: DAY_START_MS + 30 * 86_400_000, cost: 1,
});

/** A limit of a window as a policy names it: the same counter whatever the limit's value. */
export const rateOf = (kind: RateKind, limit: number, windowMs = MINUTE_MS): RateCharge => {
  const counter = counterKey({ tenant: 't', limit: 'per-window', algorithm: ALGORITHMS[kind], windowMs, scope: 'tenant', subject: '' });
  return { ...unnamed(kind, limit, windowMs), counter };
};

/** Of every kind the same figures under a name of its own. */
export const namedRateOf = (kind: RateKind, name: string, limit: number, windowMs: number, cost = 1): RateCharge => ({ ...unnamed(kind, limit, windowMs), counter: keyOf(name), cost });

const unnamed = (kind: RateKind, limit: number, windowMs: number): RateCharge => {
  if (kind === 'bucket') return bucketOf('', limit, windowMs);
  if (kind === 'log') return logOf('', limit, windowMs);
  if (kind === 'counter') return slidingOf('', limit, windowMs);
  return kind === 'queue' ? queueOf('', limit, windowMs) : windowOf('', limit, windowMs, kind);
};

export const stateOf = (verdict: Verdict): ChargeState => {
  if (!('states' in verdict) || verdict.states[0] === undefined) throw new TypeError(`no state in a verdict of status ${verdict.status}`);
  return verdict.states[0];
};
