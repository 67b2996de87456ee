import { z } from 'zod';
import { algorithm, alignment, degradedSettlement, httpMethod, limitMode, overage, penaltySchema, scope, throttleSchema } from './limits';
import { allowance, exactInteger, localDate, slug } from './numbers';

/**
 * Where a compiled number came from: `tier:pro@3`, `override:<id>`, `default`.
 * A raised limit whose burst was left out names the override for both.
 */
export const numberSource = z.string().max(120);

/** One limit as guards run it: capacity spelled out, every number with its source. */
export const compiledLimitSchema = z.strictObject({
  name: slug,
  algorithm,
  scope,
  limit: allowance,
  windowMs: z.int().min(1),
  /** Capacity of a bucket in units; null for other algorithms and for unlimited ones. */
  burst: allowance,
  alignment: alignment.optional(),
  endpointClass: slug.optional(),
  methods: z.array(httpMethod).optional(),
  perRoute: z.boolean().optional(),
  /** Leaky bucket: units that may wait behind the one that departs, and for how long; spelled out. */
  maxQueue: exactInteger.optional(),
  maxWaitMs: exactInteger.optional(),
  penalty: penaltySchema.optional(),
  mode: limitMode,
  sources: z.strictObject({ limit: numberSource, burst: numberSource }),
});
export type CompiledLimit = z.infer<typeof compiledLimitSchema>;

export const compiledQuotaSchema = z.strictObject({
  meter: slug,
  /** Base, carried units and top-ups in force together. */
  allowance,
  overage,
  throttle: throttleSchema.optional(),
  /** Moved up by `extras`; never below the allowance. */
  ceiling: exactInteger.optional(),
  /** What of the allowance is not the tier's or an override's: `top-up:<id>`, `carry:<period id>`. Absent when there is none. */
  extras: z.array(z.strictObject({ source: numberSource, units: exactInteger })).optional(),
  sources: z.strictObject({ allowance: numberSource }),
});
export type CompiledQuota = z.infer<typeof compiledQuotaSchema>;

/** A billing period: id = local start date; `[startMs, endMs)` in epoch ms. */
export const compiledPeriodSchema = z.strictObject({ id: localDate, startMs: z.int(), endMs: z.int() });
export type CompiledPeriod = z.infer<typeof compiledPeriodSchema>;

/** One stretch of a tenant's timeline, `[fromMs, untilMs)` by the store's clock, in which nothing changes by itself (M2). */
export const segmentSchema = z.strictObject({
  fromMs: z.int(),
  untilMs: z.int(),
  tier: slug,
  tierVersion: exactInteger,
  weight: exactInteger,
  degraded: degradedSettlement,
  limits: z.array(compiledLimitSchema),
  concurrency: z.strictObject({ limit: allowance, source: numberSource }),
  quotas: z.array(compiledQuotaSchema),
  period: compiledPeriodSchema,
  /** Grows when a tier change restarts the count within the period; 1 otherwise. */
  part: z.int().min(1),
});
export type Segment = z.infer<typeof segmentSchema>;

/** Scopes whose single subjects can have overrides of their own. An `ip` is named as it is counted: an IPv4 address, or an IPv6 prefix. */
export const OVERRIDABLE_SCOPES = ['ip', 'key', 'user'] as const;
export const overridableScope = z.enum(OVERRIDABLE_SCOPES);
export type OverridableScope = z.infer<typeof overridableScope>;

export const tenantStatus = z.enum(['active', 'suspended']);
export type TenantStatus = z.infer<typeof tenantStatus>;

/** The document behind `qp:{tenant}:policy`: segments sorted by `fromMs`, contiguous, at least one. */
export const policySchema = z.strictObject({
  v: z.literal(1),
  tenant: slug,
  revision: z.int().min(1),
  status: tenantStatus,
  segments: z.array(segmentSchema).min(1),
  /** Scopes of which single subjects have overrides now or later: only their calls ask for `qp:{tenant}:subjects`. Sorted; absent when none. */
  subjectScopes: z.array(overridableScope).optional(),
});
export type Policy = z.infer<typeof policySchema>;

/** Final numbers of one limit for one subject; everything else of the limit stays the tenant's. */
export const subjectLimitSchema = z.strictObject({
  name: slug,
  limit: allowance,
  burst: allowance,
  maxQueue: exactInteger.optional(),
  sources: z.strictObject({ limit: numberSource, burst: numberSource }),
});
export type SubjectLimit = z.infer<typeof subjectLimitSchema>;

/**
 * One field of `qp:{tenant}:subjects`: the overrides of a single key, user or address, compiled. Its segments have bounds of their own, are sorted
 * and contiguous from the first period's start on; a guard works within the intersection with the tenant's segment.
 */
export const subjectPolicySchema = z.strictObject({
  v: z.literal(1),
  segments: z.array(z.strictObject({ fromMs: z.int(), untilMs: z.int(), limits: z.array(subjectLimitSchema) })).min(1),
});
export type SubjectPolicy = z.infer<typeof subjectPolicySchema>;

/** Field of `qp:{tenant}:subjects` for one subject. */
export const subjectField = (subjectScope: OverridableScope, id: string): string => `${subjectScope}:${id}`;

/** Heads that are not `revision.generation`: the tenant is unknown (60 s) or deleted (kept); both fall to the fallback tier. */
export const HEAD_UNKNOWN = 'unknown';
export const HEAD_DELETED = 'deleted';

/** `revision.generation`, the first thing every check compares (M1). */
export const formatHead = (revision: number, generation: number): string => `${revision}.${generation}`;

/** Parses a head; null for `unknown`, `deleted` and anything malformed. */
export const parseHead = (head: string): { revision: number; generation: number } | null => {
  const match = /^(\d{1,15})\.(\d{1,15})$/.exec(head);
  return match ? { revision: Number(match[1]), generation: Number(match[2]) } : null;
};

export const FAIL_MODES = ['local', 'open', 'closed'] as const;
/** What happens to a class's calls while the store is away. */
export type FailMode = (typeof FAIL_MODES)[number];
export const failMode = z.enum(FAIL_MODES);
export const refundOutcome = z.enum(['4xx', '5xx', 'aborted']);

/** The catalogue of endpoint classes as guards run it: one document behind `qp:classes`. */
export const classCatalogueSchema = z.strictObject({
  v: z.literal(1),
  revision: z.int().min(0),
  classes: z.record(slug, z.strictObject({
    cost: exactInteger,
    meter: slug,
    failMode,
    refundOn: z.array(refundOutcome),
    retry: z.strictObject({ cost: exactInteger, windowMs: z.int().min(1), max: z.int().min(1) }).optional(),
  })),
});
export type ClassCatalogue = z.infer<typeof classCatalogueSchema>;
export type CatalogueClass = ClassCatalogue['classes'][string];

/** The policy of unknown tenants, one document behind `qp:fallback`; compiled from the setting `fallbackTier`. */
export const fallbackPolicySchema = policySchema;

export const keyKind = z.enum(['customer', 'service']);

/** What `qp:key:<sha256>` holds: whom a guarded service's API key stands for. */
export const keyRecordSchema = z.strictObject({
  tenant: slug,
  keyId: z.string(),
  userId: z.string().nullable(),
  kind: keyKind,
});
export type KeyRecord = z.infer<typeof keyRecordSchema>;
/** Value of a key entry that stands for "no such key": 60 s after a miss, kept after a revocation. */
export const KEY_TOMBSTONE = 'none';

export const LIST_KINDS = ['allow', 'deny', 'penalty'] as const;
export const listKind = z.enum(LIST_KINDS);
export type ListKind = z.infer<typeof listKind>;

/**
 * The allow list, the deny list and the penalties set by hand: one document behind `qp:lists`, live like the classes. The most severe entry that
 * matches a call decides: deny (403 `blocked`), then penalty (429 `penalised` until it ends), then allow (no rate limit is asked; usage still counts).
 */
export const listsDocumentSchema = z.strictObject({
  v: z.literal(1),
  revision: z.int().min(0),
  entries: z.array(z.strictObject({
    id: z.string(),
    list: listKind,
    /** null: whoever's caller it is. */
    tenant: slug.nullable(),
    scope: z.enum(['tenant', ...OVERRIDABLE_SCOPES]),
    /** Empty for scope `tenant`; for `ip` an address or a CIDR range. */
    subject: z.string(),
    fromMs: z.int().nullable(),
    untilMs: z.int().nullable(),
  })),
});
export type ListsDocument = z.infer<typeof listsDocumentSchema>;

/** A running ban that a limit's penalty set, one field of `qp:penalties`; its name is the JSON of [tenant, limit, scope, subject]. */
export const automaticPenaltySchema = z.strictObject({
  /** Key of the penalty's counter; deleting it lifts the ban. */
  counter: z.string(),
  startedMs: z.int(),
  untilMs: z.int(),
  /** How many bans in a row, this one included. */
  level: z.int().min(1),
});
export type AutomaticPenalty = z.infer<typeof automaticPenaltySchema>;

/** One entry of the change feed `qp:changes`. Field names on the wire are the keys here; `topic` tells what to drop. */
export const feedEntrySchema = z.strictObject({
  topic: z.enum(['tenant', 'key', 'classes', 'fallback', 'lists']),
  /** tenant slug, key hash, or empty. */
  subject: z.string(),
  revision: z.string(),
  changeId: z.string(),
});
export type FeedEntry = z.infer<typeof feedEntrySchema>;

/** A node's own word, one field of `qp:nodes`, rewritten each second and after every applied feed entry (its receipt). */
export const heartbeatSchema = z.strictObject({
  incarnation: z.string(),
  service: z.string(),
  /** `service` nodes count in receipts; the platform's own (`platform`) are listed only. */
  kind: z.enum(['service', 'platform']),
  version: z.string(),
  host: z.string(),
  pid: z.int(),
  startedAtMs: z.int(),
  /** Store time of this word. */
  seenAtMs: z.int(),
  /** Last feed id whose named policies this node has dropped; everything older is gone from its cache. */
  position: z.string(),
  /** Store time at which that position was applied. */
  appliedAtMs: z.int(),
  mode: z.enum(['healthy', 'degraded']),
});
export type Heartbeat = z.infer<typeof heartbeatSchema>;
