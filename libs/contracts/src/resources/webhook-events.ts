import { z } from 'zod';
import { decimalString, exactInteger, instant, localDate, slug } from '../numbers';
import type { EventType } from './webhooks';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** The tenant's use of a meter has reached `percent` of its allowance. Once per tenant, meter, threshold and period; totals are whole units as text. */
export const thresholdReached = z.strictObject({
  tenant: slug,
  meter: slug,
  /** Id of the billing period: the local date it starts on. */
  period: localDate,
  percent: exactInteger,
  used: decimalString,
  allowance: decimalString,
  reachedAt: instant,
});

/** A period was closed into a statement. Once per tenant and period. */
export const periodClosed = z.strictObject({
  tenant: slug,
  period: localDate,
  statementId: z.uuid(),
  /** Counts the tenant's statements from 1. */
  number: z.int().min(1),
  /** SHA-256 of the statement. */
  hash: sha256,
  lines: z.array(z.strictObject({ meter: slug, used: decimalString, billable: decimalString })),
});

/** An override ends in 24 h or less. Once per override and end: moving the end tells it again. */
export const overrideEnding = z.strictObject({ tenant: slug, overrideId: z.uuid(), until: instant, reason: z.string() });

/** Calls of the tenant are being denied. Once per tenant and hour; figures are those of the moment it was noticed and grow until the hour ends. */
export const tenantLimited = z.strictObject({
  tenant: slug,
  /** Start of the hour, UTC. */
  hour: instant,
  denied: exactInteger,
  /** Which limits and quotas denied, most denials first. */
  limits: z.array(z.strictObject({ name: z.string(), denied: exactInteger })),
});

/** `data` of a delivery, by its `type`. */
export const EVENT_DATA = {
  'usage.threshold_reached': thresholdReached,
  'usage.period_closed': periodClosed,
  'override.ending': overrideEnding,
  'tenant.limited': tenantLimited,
} as const satisfies Record<EventType, z.ZodType>;
export type ThresholdReached = z.infer<typeof thresholdReached>;
export type PeriodClosed = z.infer<typeof periodClosed>;
export type OverrideEnding = z.infer<typeof overrideEnding>;
export type TenantLimited = z.infer<typeof tenantLimited>;
export type EventData<T extends EventType> = z.infer<(typeof EVENT_DATA)[T]>;

/** Body of a delivery. Its id is the header `webhook-id`, the same in every delivery and redelivery. */
export const webhookBody = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('usage.threshold_reached'), timestamp: instant, data: thresholdReached }),
  z.strictObject({ type: z.literal('usage.period_closed'), timestamp: instant, data: periodClosed }),
  z.strictObject({ type: z.literal('override.ending'), timestamp: instant, data: overrideEnding }),
  z.strictObject({ type: z.literal('tenant.limited'), timestamp: instant, data: tenantLimited }),
]);
export type WebhookBody = z.infer<typeof webhookBody>;
