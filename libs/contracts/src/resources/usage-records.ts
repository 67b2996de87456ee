import { z } from 'zod';
import { ERROR_CODE_NAMES } from '../errors';
import { exactInteger, instant, MAX_EXACT, reason, slug } from '../numbers';
import { changed } from './page';

/** Most records in one request. */
export const USAGE_RECORDS_MAX = 1_000;
/** Largest body of a request in bytes. */
export const USAGE_RECORDS_BODY_BYTES = 2 * 1024 * 1024;
/** How long a (tenant, source, id) is remembered, ms: 35 days. A record older than 34 days is refused, so that none can outlive its memory. */
export const RECORD_MEMORY_MS = 35 * 86_400_000;
export const RECORD_AGE_MAX_MS = 34 * 86_400_000;
/** How far ahead of the API's clock a record may be, ms. */
export const RECORD_FUTURE_MAX_MS = 5 * 60_000;

const identity = { source: z.string().trim().min(1).max(200), id: z.string().trim().min(1).max(200) };

/**
 * Units that something else than a guard has counted; counted once per (tenant, source, id) for 35 days. Negative units are a correction and need a
 * reason. `at` is when they were used: at most 5 minutes ahead and 34 days old.
 */
export const usageRecord = z
  .strictObject({
    ...identity,
    tenant: slug,
    meter: slug,
    units: z.int().min(-MAX_EXACT).max(MAX_EXACT),
    at: instant,
    reason: reason.optional(),
  })
  .check((ctx) => {
    const { units, reason: why } = ctx.value;
    const refuse = (field: string, message: string): void => {
      ctx.issues.push({ code: 'custom', path: [field], input: ctx.value, message });
    };
    if (units === 0) refuse('units', 'must not be 0');
    if (units < 0 && why === undefined) refuse('reason', 'is required for a correction (negative units)');
  });
export type UsageRecord = z.infer<typeof usageRecord>;

/**
 * A CloudEvents 1.0 event that carries one record: `source` and `id` are the event's, `subject` the tenant, `time` the instant, and `data` holds
 * `meter`, `units` and perhaps `reason`. Other attributes are ignored.
 */
export const usageCloudEvent = z.looseObject({
  specversion: z.literal('1.0'),
  type: z.string().min(1).max(200),
  ...identity,
  subject: slug,
  time: instant,
  data: z.strictObject({ meter: slug, units: z.int(), reason: reason.optional() }),
});
export type UsageCloudEvent = z.infer<typeof usageCloudEvent>;

/** What a CloudEvent of usage carries: in binary mode, where the attributes are headers, the whole body. */
export const usageEventData = usageCloudEvent.shape.data;

const attribute = z.string().optional();
/** Attributes of a CloudEvent in binary mode, percent-encoded. Such a request is known by `ce-specversion`. */
export const cloudEventHeaders = z.object({
  'ce-specversion': attribute, 'ce-type': attribute, 'ce-source': attribute, 'ce-id': attribute, 'ce-subject': attribute, 'ce-time': attribute,
});

/** Media types of CloudEvents in structured and batched mode. */
export const CLOUD_EVENT = 'application/cloudevents+json';
export const CLOUD_EVENT_BATCH = 'application/cloudevents-batch+json';

const listOf = <T extends z.ZodType>(item: T) => z.array(item).min(1).max(USAGE_RECORDS_MAX);
/** What a body is by its media type. @see CloudEvents 1.0.2, HTTP protocol binding */
export const usageRecordsBodyTypes = {
  'application/json': z.union([listOf(usageRecord), usageEventData]),
  [CLOUD_EVENT]: usageCloudEvent,
  [CLOUD_EVENT_BATCH]: listOf(usageCloudEvent),
} as const;

/** A list of records, a CloudEvent or a batch of them, by the content type. Items are judged one by one: an invalid one never loses the others. */
export const usageRecordsBody = z.union([z.array(z.unknown()).min(1).max(USAGE_RECORDS_MAX), z.looseObject({ specversion: z.string() })]);

export const usageRecordStatus = z.enum(['counted', 'duplicate', 'adjusted', 'refused']);
/**
 * What became of one item, by its place in the request. `counted`; `duplicate`: that (tenant, source, id) was taken before and changes nothing;
 * `adjusted`: its period was closed, so that it is an adjustment of the statement; `refused`: `code` and `detail` say why, `pointer` names the field.
 */
export const usageRecordResult = z.strictObject({
  index: exactInteger,
  source: z.string().nullable(),
  id: z.string().nullable(),
  status: usageRecordStatus,
  code: z.enum(ERROR_CODE_NAMES).optional(),
  pointer: z.string().optional(),
  detail: z.string().optional(),
});
export type UsageRecordResult = z.infer<typeof usageRecordResult>;
/** `counted` includes what is `adjusted`; the three make up the items. */
export const usageRecordsAccepted = z.strictObject({ counted: exactInteger, duplicates: exactInteger, refused: exactInteger, items: z.array(usageRecordResult), ...changed });
