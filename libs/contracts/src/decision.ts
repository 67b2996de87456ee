import type { ErrorCode } from './errors';
import type { Scope } from './limits';

/** How a decision was reached. All but `store` are degraded and say so in a header, a metric and a log. */
export type DecisionSource = 'store' | 'local' | 'open' | 'last-known' | 'default';

/** One limit or quota of a decision as its caller may see it. */
export interface LimitReport {
  /** `concurrency`: slots in use at once, without a window. */
  readonly kind: 'rate' | 'quota' | 'concurrency';
  /** Limit name; `month` for the quota of meter `requests`, `month-<meter>` for others. */
  readonly name: string;
  readonly scope: Scope;
  /** Units per window (a rate), the allowance (a quota) or the slots (concurrency). */
  readonly limit: number;
  readonly windowMs: number;
  /** What `remaining` is when untouched: a bucket's capacity, a window's limit, an allowance. */
  readonly capacity: number;
  readonly cost: number;
  readonly remaining: number;
  /** ms until untouched again; for a quota until the period ends. */
  readonly resetAfterMs: number;
  /** ms until more than `remaining` is available; 0 when untouched. */
  readonly moreAfterMs: number;
  /** ms a lone client has to wait for this limit; 0 when it does not deny. */
  readonly retryAfterMs: number;
  readonly isViolated: boolean;
}

/** The answer to one check. A denial is a value, never an error, until the last room. */
export interface Decision {
  readonly outcome: 'allowed' | 'denied';
  /** Present on a denial. */
  readonly code?: Extract<ErrorCode,
    'rate_limited' | 'quota_exceeded' | 'concurrency_exceeded' | 'penalised' | 'cost_exceeds_limit' | 'limiter_unavailable' | 'circuit_open' | 'blocked'>;
  readonly source: DecisionSource;
  readonly tenant: string;
  readonly tier: string;
  readonly revision: number;
  /** Units charged: the call's cost, or the class's `retry.cost` on a repeated Idempotency-Key. */
  readonly cost: number;
  /** ms that the call has to wait for its turn in a leaky bucket's queue before it goes on; absent when none. */
  readonly waitMs?: number;
  /** All limits in force for this call, in policy order. */
  readonly limits: readonly LimitReport[];
  /** The one that denies longest, else the one with the smallest remaining share; undefined when nothing limits. */
  readonly binding?: LimitReport;
  /** Whole ms, the largest wait among the violated limits; undefined where waiting cannot help. */
  readonly retryAfterMs?: number;
}
