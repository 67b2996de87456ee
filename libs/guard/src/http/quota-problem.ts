/** Media type of every refusal (RFC 9457). */
export const PROBLEM_JSON = 'application/problem+json';

/** Body of a refusal; which members a denial carries is told in the response contract. */
export interface QuotaProblem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  /** In words, for people. */
  readonly detail: string;
  /** For programs: `rate_limited`, `quota_exceeded`, `limiter_unavailable` and the like. */
  readonly code: string;
  readonly requestId: string;
  readonly scope?: string | undefined;
  /** Name of the limit that denies longest. */
  readonly policy?: string | undefined;
  readonly limit?: number | null | undefined;
  /** Whole seconds until that limit is untouched again. */
  readonly reset?: number | undefined;
  readonly 'violated-policies'?: readonly string[] | undefined;
  /** Whole seconds, as in Retry-After. */
  readonly retryAfter?: number | undefined;
  readonly docs?: string | undefined;
}

/** What callers without response headers are sent: the problem, with the fields beside it. */
export interface QuotaProblemPayload extends QuotaProblem {
  /** By name, as an HTTP answer would carry them: `RateLimit-Policy`, `Retry-After` and so on. */
  readonly rateLimit: Readonly<Record<string, string>>;
}
