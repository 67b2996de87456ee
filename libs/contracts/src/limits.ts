import { z } from 'zod';
import { allowance, exactInteger, MAX_EXACT, slug, windowMs } from './numbers';

/** Every algorithm the API names. How to choose: docs/algorithms.md. */
export const ALGORITHMS = [
  'token-bucket', 'gcra', 'leaky-bucket', 'fixed-window', 'sliding-log', 'sliding-counter',
] as const;
export const algorithm = z.enum(ALGORITHMS);
export type Algorithm = z.infer<typeof algorithm>;

/** Algorithms whose state is a debt that drains; only these take a `burst`. */
export const BUCKET_ALGORITHMS: readonly Algorithm[] = ['token-bucket', 'gcra'];

/** Most units of a sliding log: it keeps an entry per ms with an admission, about 17 bytes each: 173 kB a subject at most (docs/algorithms.md). */
export const SLIDING_LOG_MAX = 10_000;
/** Longest that a call waits in a leaky bucket's queue, ms: a socket is held meanwhile. */
export const QUEUE_WAIT_MAX_MS = 60_000;

/** Whom a limit counts: all callers, one tenant, user, key or address, or a subject the service supplies. */
export const scope = z.union([
  z.enum(['global', 'tenant', 'user', 'key', 'ip']),
  z.templateLiteral(['subject:', slug]),
]);
export type Scope = z.infer<typeof scope>;

export const alignment = z.enum(['epoch', 'first-hit']);
export type Alignment = z.infer<typeof alignment>;

export const limitMode = z.enum(['enforce', 'shadow']);
export const httpMethod = z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** 1 s to 30 days. */
const banMs = z.int().min(1000).max(30 * 86_400_000);

/**
 * What happens to a subject that keeps calling past its limit: `strikes` denials within `withinMs` ban it for `banMs`; each further ban lasts `factor`
 * times the one before, `maxBanMs` at most, until `forgiveAfterMs` have passed without a ban. A ban denies with `penalised` whatever is left of the limit.
 */
export const penaltySchema = z
  .strictObject({
    strikes: z.int().min(1).max(1_000_000),
    withinMs: windowMs,
    banMs,
    factor: z.int().min(1).max(100).default(2),
    maxBanMs: banMs.default(86_400_000),
    forgiveAfterMs: banMs.default(86_400_000),
  })
  .refine((value) => value.maxBanMs >= value.banMs, { path: ['maxBanMs'], message: 'maxBanMs must be at least banMs' });
export type Penalty = z.infer<typeof penaltySchema>;

/** What a quota is called in the RateLimit fields; two members of one name would tell a client nothing. @see contract */
const QUOTA_NAMES = /^month(-|$)/;
/** What the tier's `concurrency` is called there. */
const SLOTS_NAME = 'in-flight';

type Sized = { readonly algorithm: Algorithm; readonly limit: number | null; readonly burst?: number | undefined; readonly maxQueue?: number | undefined };

/** Capacity of a leaky bucket in units: the one that departs now and those that wait behind it. */
export const queueCapacity = (limit: number, maxQueue: number | undefined): number => Math.min(MAX_EXACT, (maxQueue ?? Math.max(0, limit - 1)) + 1);

/** The field and the amount of units that must stay exact when multiplied by the window (M4); null where nothing is multiplied. */
export function largestAmount({ algorithm: kind, limit, burst, maxQueue }: Sized): [field: 'limit' | 'burst' | 'maxQueue', units: number | null] {
  if (BUCKET_ALGORITHMS.includes(kind)) return burst === undefined ? ['limit', limit] : ['burst', burst];
  if (kind === 'sliding-counter') return ['limit', limit];
  if (kind !== 'leaky-bucket' || limit === null) return ['limit', null];
  return maxQueue === undefined ? ['limit', limit] : ['maxQueue', queueCapacity(limit, maxQueue)];
}

/** M4: whether `units x windowMs` stays exact. */
export const isExactAmount = (units: number, windowLengthMs: number): boolean => BigInt(units) * BigInt(windowLengthMs) <= BigInt(MAX_EXACT);

/** One short-term rule of a tier. `burst` (units) is a bucket's capacity and defaults to `limit`. */
export const limitSchema = z
  .strictObject({
    name: slug,
    algorithm,
    scope,
    limit: allowance,
    windowMs,
    burst: z.int().min(1).max(MAX_EXACT).optional(),
    endpointClass: slug.optional(),
    methods: z.array(httpMethod).min(1).refine((list) => new Set(list).size === list.length, 'names a method twice').optional(),
    perRoute: z.boolean().optional(),
    alignment: alignment.optional(),
    /** Units that may wait behind the call that departs now; default `limit` - 1. Leaky bucket only. */
    maxQueue: exactInteger.optional(),
    /** Longest wait of a call, 0 to 60,000 ms; default `windowMs`, 60,000 at most. Leaky bucket only. */
    maxWaitMs: z.int().min(0).max(QUEUE_WAIT_MAX_MS).optional(),
    /** Not together with `mode: shadow`, which never denies. */
    penalty: penaltySchema.optional(),
    mode: limitMode.default('enforce'),
  })
  .check((ctx) => {
    const refuse = (field: string, message: string): void => {
      ctx.issues.push({ code: 'custom', message, path: [field], input: ctx.value });
    };
    const value = ctx.value;
    const isBucket = BUCKET_ALGORITHMS.includes(value.algorithm);
    if (QUOTA_NAMES.test(value.name)) refuse('name', 'month and month-... are the names of quotas and their slower lanes in the response fields');
    if (value.name === SLOTS_NAME) refuse('name', `${SLOTS_NAME} is the name of the cap on calls under way in the response fields`);
    if (value.burst !== undefined && !isBucket) refuse('burst', `burst belongs to ${BUCKET_ALGORITHMS.join(' and ')} only`);
    if (value.alignment !== undefined && value.algorithm !== 'fixed-window') refuse('alignment', 'alignment belongs to fixed-window only');
    if ((value.maxQueue !== undefined || value.maxWaitMs !== undefined) && value.algorithm !== 'leaky-bucket') {
      refuse(value.maxQueue === undefined ? 'maxWaitMs' : 'maxQueue', 'a queue belongs to leaky-bucket only');
    }
    if (value.mode === 'shadow' && value.penalty !== undefined) refuse('penalty', 'a shadow limit never denies, so nobody collects strikes');
    if (value.penalty !== undefined && value.scope === 'global') refuse('penalty', 'a global limit has no subject to ban');
    if (value.algorithm === 'sliding-log' && value.limit !== null && value.limit > SLIDING_LOG_MAX) {
      refuse('limit', `a sliding log keeps an entry per call: at most ${SLIDING_LOG_MAX}; use sliding-counter or token-bucket above`);
    }
    const [field, units] = largestAmount(value);
    if (units !== null && !isExactAmount(units, value.windowMs)) refuse(field, `${field} x windowMs must not pass 2^53-1; use a shorter window or a smaller ${field}`);
  });
export type Limit = z.infer<typeof limitSchema>;

/** What happens past the allowance: deny, fall to a slower lane, or allow and report the units as billable. */
export const overage = z.enum(['reject', 'throttle', 'bill']);
export type Overage = z.infer<typeof overage>;

/** The slower lane of `overage: throttle`: `limit` units per `windowMs`, a bucket without extra burst. */
export const throttleSchema = z
  .strictObject({ limit: z.int().min(1).max(MAX_EXACT), windowMs })
  // M4, as for every bucket.
  .refine((lane) => isExactAmount(lane.limit, lane.windowMs), {
    path: ['limit'], message: 'limit x windowMs must not pass 2^53-1; use a shorter window or a smaller limit',
  });

/** Unused allowance that goes over into the next period: `cap` units at most. Overage and what is left of top-ups never do (C088). */
export const carrySchema = z.strictObject({ cap: z.int().min(1).max(MAX_EXACT) });

/** Allowance of one meter per billing period; `alertAt` in percent of the allowance. */
export const quotaSchema = z
  .strictObject({
    meter: slug,
    allowance,
    overage,
    throttle: throttleSchema.optional(),
    /** Units at which even `throttle` and `bill` end: denied until the period's end. At least the allowance; carried units and top-ups come on top. */
    ceiling: exactInteger.optional(),
    /** Off when left out. */
    carry: carrySchema.optional(),
    alertAt: z.array(z.int().min(1).max(1000)).max(10).default([]),
  })
  .check((ctx) => {
    const value = ctx.value;
    const refuse = (field: string, message: string): void => {
      ctx.issues.push({ code: 'custom', path: [field], input: value, message });
    };
    if ((value.overage === 'throttle') !== (value.throttle !== undefined)) {
      refuse('throttle', 'throttle {limit, windowMs} is required with overage throttle and refused without it');
    }
    if (value.ceiling !== undefined) {
      if (value.overage === 'reject') refuse('ceiling', 'ceiling belongs to overage throttle and bill only; reject ends at the allowance');
      else if (value.allowance === null) refuse('ceiling', 'an unlimited allowance has no ceiling');
      else if (value.ceiling < value.allowance) refuse('ceiling', 'ceiling must be at least the allowance');
    }
    if (value.carry !== undefined && value.allowance === null) refuse('carry', 'an unlimited allowance leaves nothing to carry');
    if (new Set(value.alertAt).size !== value.alertAt.length) refuse('alertAt', 'names a threshold twice');
  });
export type Quota = z.infer<typeof quotaSchema>;

/** How units admitted while the store was away are settled in the ledger. @see semantics: store away; architecture M3 */
export const degradedSettlement = z.enum(['bill', 'waive', 'cap']);
export type DegradedSettlement = z.infer<typeof degradedSettlement>;

/** What a tier version holds; immutable once published. */
export const tierContentSchema = z
  .strictObject({
    limits: z.array(limitSchema).max(32),
    concurrency: allowance.default(null),
    quotas: z.array(quotaSchema).max(16),
    degraded: degradedSettlement.default('waive'),
  })
  .check((ctx) => {
    const refuseTwins = (list: readonly { readonly key: string }[], field: 'limits' | 'quotas', word: string): void => {
      const seen = new Set<string>();
      list.forEach(({ key }, index) => {
        if (seen.has(key)) ctx.issues.push({ code: 'custom', path: [field, index, word], message: `${word} ${key} is used twice`, input: key });
        seen.add(key);
      });
    };
    refuseTwins(ctx.value.limits.map((limit) => ({ key: limit.name })), 'limits', 'name');
    refuseTwins(ctx.value.quotas.map((quota) => ({ key: quota.meter })), 'quotas', 'meter');
  });
export type TierContent = z.infer<typeof tierContentSchema>;

/** The reserved tier and tenant of callers without credentials must carry a limit of this scope, judged first. */
export const ANONYMOUS_REQUIRES_SCOPE: Scope = 'global';
