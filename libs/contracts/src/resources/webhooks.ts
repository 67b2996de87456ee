import { z } from 'zod';
import { exactInteger, instant, slug } from '../numbers';
import { changed, pageOf, pageQuery, versioned } from './page';

/** What subscribers can be told. Each happens once: its id is the same in every delivery and redelivery. */
export const EVENT_TYPES = ['usage.threshold_reached', 'usage.period_closed', 'override.ending', 'tenant.limited'] as const;
export const eventType = z.enum(EVENT_TYPES);
export type EventType = z.infer<typeof eventType>;

/**
 * Waits between the attempts of a delivery in s, each with a jitter of up to a tenth either way: at once, then 5 s, 30 s, 2 min, 15 min, 1 h, 4 h, 12 h
 * and 24 h; then it is given up. A `Retry-After` of the receiver is honoured where it is longer, up to 24 h.
 */
export const DELIVERY_WAITS_S = [0, 5, 30, 120, 900, 3_600, 14_400, 43_200, 86_400] as const;
/** How long a secret that was rotated away still signs beside the new one, ms. */
export const SECRET_OVERLAP_MS = 24 * 3_600_000;

const fields = {
  url: z.url({ protocol: /^https?$/ }).max(2_000),
  description: z.string().trim().max(200),
  events: z.array(eventType).min(1).max(EVENT_TYPES.length).refine((list) => new Set(list).size === list.length, 'names an event twice'),
  /** Null: events of all tenants. */
  tenant: slug.nullable(),
  /** Most deliveries a second, and most at once. */
  ratePerSecond: z.int().min(1).max(1_000),
  concurrency: z.int().min(1).max(100),
};
export const webhookCreate = z.strictObject({
  url: fields.url, description: fields.description.default(''), events: fields.events, tenant: fields.tenant.default(null),
  ratePerSecond: fields.ratePerSecond.default(10), concurrency: fields.concurrency.default(4),
});
export const webhookPatch = z.strictObject({
  url: fields.url, description: fields.description, events: fields.events, ratePerSecond: fields.ratePerSecond, concurrency: fields.concurrency,
  /** `disabled` keeps what waits; `active` sends it. */
  status: z.enum(['active', 'disabled']),
}).partial();
export const webhookSchema = z.strictObject({
  id: z.uuid(),
  ...fields,
  /** `disabled` by an operator, `gone` since the receiver answered 410. */
  status: z.enum(['active', 'disabled', 'gone']),
  disabledReason: z.string().nullable(),
  /** Last characters of the secret in use. */
  secretHint: z.string(),
  /** Until when the former secret signs, too; null when there is none. */
  formerSecretUntil: instant.nullable(),
  pending: exactInteger,
  lastDeliveryAt: instant.nullable(),
  lastStatus: z.string().nullable(),
  ...versioned,
  createdBy: z.string(),
});
export type Webhook = z.infer<typeof webhookSchema>;
/** `secret` (`whsec_...`) is shown once, at creation and rotation. */
export const webhookCreated = webhookSchema.extend({ secret: z.string().optional(), ...changed });
export const webhookChanged = webhookSchema.extend(changed);
export const webhookPage = pageOf(webhookSchema);

/**
 * `pending` waits for its first or next attempt. `delivered`: a 2xx. `failed`: the endpoint ended first (410, or deleted). `given-up`: no attempt of the
 * schedule succeeded.
 */
export const deliveryState = z.enum(['pending', 'delivered', 'failed', 'given-up']);
export const webhookAttempt = z.strictObject({ at: instant, status: z.int().nullable(), error: z.string().nullable(), tookMs: exactInteger });
export const webhookDelivery = z.strictObject({
  id: z.uuid(),
  webhookId: z.uuid(),
  event: z.strictObject({ id: z.string(), type: eventType, tenant: slug.nullable(), at: instant, data: z.json() }),
  state: deliveryState,
  attempts: exactInteger,
  nextAttemptAt: instant.nullable(),
  /** Newest first, at most 20. */
  log: z.array(webhookAttempt),
  createdAt: instant,
});
export type WebhookDelivery = z.infer<typeof webhookDelivery>;
export const deliveryPage = pageOf(webhookDelivery);
export const deliveryQuery = pageQuery.extend({ state: deliveryState.optional(), type: eventType.optional() });
export const deliveryChanged = webhookDelivery.extend(changed);
export const byWebhookAndDelivery = z.strictObject({ id: z.uuid(), deliveryId: z.uuid() });
