/** Response fields of a guarded service. @see contract; draft-ietf-httpapi-ratelimit-headers-11; RFC 9651 */
export const GUARD_HEADERS = {
  policy: 'RateLimit-Policy',
  state: 'RateLimit',
  limit: 'RateLimit-Limit',
  remaining: 'RateLimit-Remaining',
  reset: 'RateLimit-Reset',
  retryAfter: 'Retry-After',
  source: 'RateLimit-Source',
  cacheControl: 'Cache-Control',
  expose: 'Access-Control-Expose-Headers',
} as const;

/** Opt-in older names; Reset is delta seconds. */
export const LEGACY_HEADERS = {
  limit: 'X-RateLimit-Limit',
  remaining: 'X-RateLimit-Remaining',
  reset: 'X-RateLimit-Reset',
} as const;

export const API_KEY_HEADER = 'X-Api-Key';
export const USER_ID_HEADER = 'X-User-Id';
export const IDEMPOTENCY_KEY_HEADER = 'Idempotency-Key';
export const REQUEST_ID_HEADER = 'X-Request-Id';

/** Name of the console's session cookie where the console is served over plain HTTP on loopback the `__Host-` prefix cannot hold. */
export const SESSION_COOKIE = '__Host-qp-session';
export const SESSION_COOKIE_INSECURE = 'qp-session';
/** Every cookie-authenticated write must carry it (any value): a cross-site form cannot set it. */
export const CSRF_HEADER = 'X-Quotaplane-Console';
