import { deliveryState, eventType, webhookAttempt, webhookSchema, type Webhook, type WebhookDelivery } from '@quotaplane/contracts';
import { z } from 'zod';
import type { EventRow, WebhookDeliveryRow, WebhookRow } from '../database/rows';
import { hintOf } from './signature';

/** An endpoint as it is shown and kept in the audit log: without its secrets. */
export function webhookFrom(row: WebhookRow, pending: number): Webhook {
  return {
    id: row.id, url: row.url, description: row.description, events: eventType.array().parse(row.events), tenant: row.tenant,
    ratePerSecond: row.ratePerSecond, concurrency: row.concurrency, status: webhookSchema.shape.status.parse(row.status), disabledReason: row.disabledReason,
    secretHint: hintOf(row.secret), formerSecretUntil: row.formerSecret === null ? null : (row.formerSecretUntil?.toISOString() ?? null), pending,
    lastDeliveryAt: row.lastDeliveryAt?.toISOString() ?? null, lastStatus: row.lastStatus, version: row.version,
    createdAt: row.createdAt.toISOString(), updatedAt: row.updatedAt.toISOString(), createdBy: row.createdBy,
  };
}

export function deliveryFrom(row: WebhookDeliveryRow & { readonly event: EventRow }): WebhookDelivery {
  const { event } = row;
  return {
    id: row.id, webhookId: row.webhookId,
    event: { id: event.id, type: eventType.parse(event.type), tenant: event.tenant, at: event.at.toISOString(), data: z.json().parse(event.data) },
    state: deliveryState.parse(row.state), attempts: row.attempts, nextAttemptAt: row.nextAttemptAt?.toISOString() ?? null,
    log: webhookAttempt.array().parse(row.log), createdAt: row.createdAt.toISOString(),
  };
}
