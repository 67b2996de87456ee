import { z } from 'zod';

const QUOTA_EXCEEDED = 'https://iana.org/assignments/http-problem-types#quota-exceeded';
const ABNORMAL_USAGE = 'https://iana.org/assignments/http-problem-types#abnormal-usage-detected';
const REDUCED_CAPACITY = 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity';
const BLANK = 'about:blank';

/** Every code an answer can carry, with its status and RFC 9457 type: of guarded services and of the control plane. */
export const ERROR_CODES = {
  rate_limited: { status: 429, type: QUOTA_EXCEEDED, title: 'Quota exceeded' },
  quota_exceeded: { status: 429, type: QUOTA_EXCEEDED, title: 'Quota exceeded' },
  concurrency_exceeded: { status: 429, type: QUOTA_EXCEEDED, title: 'Quota exceeded' },
  penalised: { status: 429, type: ABNORMAL_USAGE, title: 'Abnormal usage detected' },
  overloaded: { status: 503, type: REDUCED_CAPACITY, title: 'Temporary reduced capacity' },
  limiter_unavailable: { status: 503, type: REDUCED_CAPACITY, title: 'Temporary reduced capacity' },
  circuit_open: { status: 503, type: REDUCED_CAPACITY, title: 'Temporary reduced capacity' },
  cost_exceeds_limit: { status: 422, type: BLANK, title: 'Cost exceeds the limit' },
  blocked: { status: 403, type: BLANK, title: 'Blocked' },
  unauthenticated: { status: 401, type: BLANK, title: 'Unauthenticated' },
  forbidden: { status: 403, type: BLANK, title: 'Forbidden' },
  csrf_refused: { status: 403, type: BLANK, title: 'Cross-site request refused' },
  not_found: { status: 404, type: BLANK, title: 'Not found' },
  malformed: { status: 400, type: BLANK, title: 'Malformed request' },
  invalid: { status: 422, type: BLANK, title: 'Invalid request' },
  conflict: { status: 409, type: BLANK, title: 'Conflict' },
  in_use: { status: 409, type: BLANK, title: 'Still in use' },
  idempotency_running: { status: 409, type: BLANK, title: 'The first request is still running' },
  idempotency_mismatch: { status: 422, type: BLANK, title: 'Idempotency-Key used with another body' },
  version_conflict: { status: 412, type: BLANK, title: 'The resource has moved on' },
  version_required: { status: 428, type: BLANK, title: 'If-Match is required' },
  body_too_large: { status: 413, type: BLANK, title: 'Body too large' },
  unsupported_media_type: { status: 415, type: BLANK, title: 'Unsupported media type' },
  sign_in_limited: { status: 429, type: QUOTA_EXCEEDED, title: 'Too many sign-in attempts' },
  store_unavailable: { status: 503, type: REDUCED_CAPACITY, title: 'Temporary reduced capacity' },
  internal: { status: 500, type: BLANK, title: 'Internal error' },
} as const satisfies Record<string, { status: number; type: string; title: string }>;

export type ErrorCode = keyof typeof ERROR_CODES;
export const ERROR_CODE_NAMES = Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]];

/** One invalid field: RFC 6901 pointer into the body, or `/query/<name>`, `/path/<name>`, `/header/<name>`. */
export const fieldErrorSchema = z.strictObject({ pointer: z.string(), detail: z.string() });
export type FieldError = z.infer<typeof fieldErrorSchema>;

/** application/problem+json of the control plane (RFC 9457). */
export const problemSchema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.enum(ERROR_CODE_NAMES),
  requestId: z.string(),
  errors: z.array(fieldErrorSchema).optional(),
});
export type Problem = z.infer<typeof problemSchema>;

/** Body of a denial by a guard; members as in the response contract. */
export const denialProblemSchema = problemSchema.extend({
  scope: z.string().optional(),
  policy: z.string().optional(),
  limit: z.int().nullable().optional(),
  reset: z.int().optional(),
  'violated-policies': z.array(z.string()).optional(),
  retryAfter: z.int().optional(),
  docs: z.string().optional(),
});
export type DenialProblem = z.infer<typeof denialProblemSchema>;

/** The one error class of the control plane's services; the HTTP filter turns it into problem+json. */
export class DomainError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details: { readonly errors?: readonly FieldError[]; readonly [member: string]: unknown } = {},
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'DomainError';
  }
}
