import { z } from 'zod';
import { ERROR_CODE_NAMES } from '../errors';
import { algorithm, alignment, httpMethod, overage, penaltySchema, scope } from '../limits';
import { allowance, exactInteger, slug } from '../numbers';
import { refundOutcome } from '../policy';

/** A length of time twice: exact for programs, in words for people ("15 minutes"). */
const windowFields = { windowMs: z.int().min(1), window: z.string() };

/**
 * One limit that a tier enforces; `name` is what the response fields, a denial's `policy` and its `docs` link call it.
 * `worstCaseUnits`: most units that pass in any stretch of `windowMs`, wherever it begins; null where the limit is unlimited.
 */
export const publicLimit = z.strictObject({
  name: slug,
  algorithm,
  /** Whom it counts. */
  scope,
  /** Units per window; 0 denies everything, null is unlimited. */
  limit: allowance,
  ...windowFields,
  /** Units that may be spent at once: capacity of a bucket; null for other algorithms. */
  burst: allowance,
  worstCaseUnits: allowance,
  /** Only calls of this class, of these methods, or each route on its own. */
  endpointClass: slug.optional(),
  methods: z.array(httpMethod).optional(),
  perRoute: z.boolean().optional(),
  alignment: alignment.optional(),
  /** Units that may wait their turn, and for how long, before a call is refused. */
  maxQueue: exactInteger.optional(),
  maxWaitMs: exactInteger.optional(),
  penalty: penaltySchema.optional(),
});
export type PublicLimit = z.infer<typeof publicLimit>;

/** Allowance of one billing period; past it the overage rule holds, and with `throttle` a slower lane of its own name. */
export const publicQuota = z.strictObject({
  name: slug,
  meter: slug,
  allowance,
  overage,
  throttle: z.strictObject({ name: slug, limit: exactInteger, ...windowFields, worstCaseUnits: exactInteger }).optional(),
  /** Units at which even calls past the allowance are refused until the next period; absent where there is no such end. */
  ceiling: exactInteger.optional(),
  /** Most unused units of the allowance that go over into the next period; absent where none do. */
  carry: exactInteger.optional(),
});
export type PublicQuota = z.infer<typeof publicQuota>;

export const publicTier = z.strictObject({
  slug,
  name: z.string(),
  support: z.string(),
  /** The published version that is enforced now. */
  tierVersion: exactInteger,
  /** `anonymous`: what callers without credentials get; they have no account, so limits of scope `tenant` count each address. */
  audience: z.enum(['accounts', 'anonymous']),
  limits: z.array(publicLimit),
  /** Most calls under way at once; null is unlimited. */
  concurrency: allowance,
  quotas: z.array(publicQuota),
});
export type PublicTier = z.infer<typeof publicTier>;

/** What a call of this class costs, in units of its meter; a service may work out a route's cost from the request instead. */
export const publicClass = z.strictObject({
  slug,
  cost: exactInteger,
  meter: slug,
  /** Outcomes after which the units come back. */
  refundOn: z.array(refundOutcome),
  /** A repeat with the same Idempotency-Key costs `cost` instead, `max` times within the window. */
  retry: z.strictObject({ cost: exactInteger, ...windowFields, max: z.int().min(1) }).optional(),
});
export type PublicClass = z.infer<typeof publicClass>;

/** How a denial's Retry-After is meant: a lone client that waits so long passes; it may help; or waiting cannot help. */
export const WAITS = ['exact', 'hint', 'useless'] as const;

export const publicDenial = z.strictObject({ code: z.enum(ERROR_CODE_NAMES), status: z.int(), type: z.string(), wait: z.enum(WAITS), meaning: z.string() });
export type PublicDenial = z.infer<typeof publicDenial>;

/**
 * `/limits.json`: what an API consumer may rely on. Made from the compiled rules that guards run. Members are only ever added while `v` is 1.
 * Tiers are sorted by their weight, then slug; limits are in the order in which they are judged; classes are sorted by slug.
 */
export const publicLimitsSchema = z.strictObject({
  v: z.literal(1),
  tiers: z.array(publicTier),
  classes: z.array(publicClass),
  algorithms: z.array(z.strictObject({ algorithm, meaning: z.string(), worstCase: z.string() })),
  period: z.array(z.string()),
  fields: z.array(z.strictObject({ name: z.string(), meaning: z.string() })),
  denials: z.array(publicDenial),
  backOff: z.array(z.string()),
});
export type PublicLimits = z.infer<typeof publicLimitsSchema>;
