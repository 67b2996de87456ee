import type { QuotaProblem } from '../http/quota-problem';
import type { CallOutcome } from '../http/response-end';
import type { Admission } from './call-gate';

/** One limit or quota that applied to a call. */
export interface LimiterFigure {
  readonly kind: 'rate' | 'quota' | 'concurrency';
  /** Name of the limit; `month` for the quota of meter `requests`. */
  readonly name: string;
  readonly scope: string;
  /** Units per window, the allowance of a quota, or slots. */
  readonly limit: number;
  readonly windowMs: number;
  /** What `remaining` is when untouched, such as a bucket's burst. */
  readonly capacity: number;
  readonly remaining: number;
  /** ms until untouched again. */
  readonly resetAfterMs: number;
  /** ms a lone caller has to wait for this limit; 0 when it does not deny. */
  readonly retryAfterMs: number;
  readonly isViolated: boolean;
}

/** The answer to one call. A denial is a value, never an error. */
export interface LimiterDecision {
  readonly outcome: 'allowed' | 'denied';
  /** Why not: `rate_limited`, `quota_exceeded`, `concurrency_exceeded`, `limiter_unavailable`, `cost_exceeds_limit`, `unauthenticated` and the like. */
  readonly code: string | undefined;
  /** Status for an HTTP answer: 200 where the call may go on, else 429, 503, 422, 403 or 401. */
  readonly status: number;
  /** Response fields by name, on denials and on admissions. */
  readonly fields: Readonly<Record<string, string>>;
  /** Body of a denial, `application/problem+json`. */
  readonly problem: QuotaProblem | undefined;
  /** Whole ms after which this call alone passes; undefined where it is allowed or waiting cannot help. */
  readonly retryAfterMs: number | undefined;
  /** ms that the call has to wait for its turn in a queue before it goes on; 0 for most. */
  readonly waitMs: number;
  /** All limits in force for this call, in policy order. */
  readonly limits: readonly LimiterFigure[];
  /** `store`, or how it was decided without it: `local`, `open`, `last-known`, `default`. */
  readonly source: string;
  /** Units charged. */
  readonly cost: number;
  /**
   * Says that the call has ended: frees the slot it holds and gives units back where its class does so. Call it exactly once for calls with
   * `holdsSlot`, and where refunds matter; nothing happens where nothing is owed.
   */
  release(outcome?: Partial<CallOutcome>): void;
}

export function limiterDecisionOf({ decision, fields, problem }: Admission): LimiterDecision {
  return {
    outcome: problem ? 'denied' : 'allowed',
    code: problem?.code,
    status: problem?.status ?? 200,
    fields: byName(fields),
    problem,
    retryAfterMs: problem ? decision?.retryAfterMs : undefined,
    waitMs: problem ? 0 : (decision?.waitMs ?? 0),
    limits: decision ? decision.limits.map(figureOf) : [],
    source: decision?.source ?? 'store',
    cost: decision?.outcome === 'allowed' && !problem ? decision.cost : 0,
    release: ({ statusCode = 200, isAborted = false } = {}) => decision?.release?.({ statusCode, isAborted }),
  };
}

/** As Object.fromEntries, which needs an iterator and five times as long. */
function byName(fields: Admission['fields']): Record<string, string> {
  const named: Record<string, string> = {};
  for (const [name, value] of fields) named[name] = value;
  return named;
}

function figureOf({ kind, name, scope, limit, windowMs, capacity, remaining, resetAfterMs, retryAfterMs, isViolated }: LimiterFigure): LimiterFigure {
  return { kind, name, scope, limit, windowMs, capacity, remaining, resetAfterMs, retryAfterMs, isViolated };
}
