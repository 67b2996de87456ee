import { z } from 'zod';
import { allowance, exactInteger, MAX_EXACT, slug, windowMs } from './numbers';

/** Every algorithm the API names. Those not in {@link ENFORCED_ALGORITHMS} are refused at save, never silently ignored. */
export const ALGORITHMS = [
  'token-bucket', 'gcra', 'leaky-bucket', 'fixed-window', 'sliding-log', 'sliding-counter',
] as const;
export const ENFORCED_ALGORITHMS: readonly Algorithm[] = ['token-bucket', 'gcra', 'fixed-window'];
export const algorithm = z.enum(ALGORITHMS);
export type Algorithm = z.infer<typeof algorithm>;

/** Algorithms whose state is a debt that drains; only these take a `burst`. */
export const BUCKET_ALGORITHMS: readonly Algorithm[] = ['token-bucket', 'gcra'];

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

/** What a quota is called in the RateLimit fields; two members of one name would tell a client nothing. @see contract */
const QUOTA_NAMES = /^month(-|$)/;

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
    methods: z.array(httpMethod).min(1).optional(),
    perRoute: z.boolean().optional(),
    alignment: alignment.optional(),
    maxQueue: exactInteger.optional(),
    maxWaitMs: exactInteger.optional(),
    mode: limitMode.default('enforce'),
  })
  .check((ctx) => {
    const refuse = (field: string, message: string): void => {
      ctx.issues.push({ code: 'custom', message, path: [field], input: ctx.value });
    };
    const value = ctx.value;
    const isBucket = BUCKET_ALGORITHMS.includes(value.algorithm);
    if (QUOTA_NAMES.test(value.name)) refuse('name', 'month and month-... are the names of quotas and their slower lanes in the response fields');
    if (!ENFORCED_ALGORITHMS.includes(value.algorithm)) {
      refuse('algorithm', `${value.algorithm} is not enforced by this release; use one of ${ENFORCED_ALGORITHMS.join(', ')}`);
    }
    if (value.mode === 'shadow') refuse('mode', 'shadow is not enforced by this release; use enforce');
    if (value.burst !== undefined && !isBucket) refuse('burst', `burst belongs to ${BUCKET_ALGORITHMS.join(' and ')} only`);
    if (value.alignment !== undefined && value.algorithm !== 'fixed-window') refuse('alignment', 'alignment belongs to fixed-window only');
    if (value.maxQueue !== undefined || value.maxWaitMs !== undefined) {
      refuse(value.maxQueue === undefined ? 'maxWaitMs' : 'maxQueue', 'a queue belongs to leaky-bucket only');
    }
    // M4: the debt of a full bucket must stay exact in unit-milliseconds.
    const capacity = value.burst ?? value.limit ?? 0;
    if (isBucket && BigInt(capacity) * BigInt(value.windowMs) > BigInt(MAX_EXACT)) {
      refuse(value.burst === undefined ? 'limit' : 'burst', 'capacity x windowMs must not pass 2^53-1; use a shorter window or a smaller burst');
    }
  });
export type Limit = z.infer<typeof limitSchema>;

/** What happens past the allowance: deny, fall to a slower lane, or allow and report the units as billable. */
export const overage = z.enum(['reject', 'throttle', 'bill']);
export type Overage = z.infer<typeof overage>;

/** The slower lane of `overage: throttle`: `limit` units per `windowMs`, a bucket without extra burst. */
export const throttleSchema = z
  .strictObject({ limit: z.int().min(1).max(MAX_EXACT), windowMs })
  // M4, as for every bucket.
  .refine((lane) => BigInt(lane.limit) * BigInt(lane.windowMs) <= BigInt(MAX_EXACT), {
    path: ['limit'], message: 'limit x windowMs must not pass 2^53-1; use a shorter window or a smaller limit',
  });

/** Monthly allowance of one meter; `alertAt` in percent of the allowance. */
export const quotaSchema = z
  .strictObject({
    meter: slug,
    allowance,
    overage,
    throttle: throttleSchema.optional(),
    alertAt: z.array(z.int().min(1).max(1000)).max(10).default([]),
  })
  .check((ctx) => {
    if ((ctx.value.overage === 'throttle') !== (ctx.value.throttle !== undefined)) {
      ctx.issues.push({
        code: 'custom', path: ['throttle'], input: ctx.value,
        message: 'throttle {limit, windowMs} is required with overage throttle and refused without it',
      });
    }
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
