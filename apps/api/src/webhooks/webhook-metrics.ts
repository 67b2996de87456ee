import { Injectable } from '@nestjs/common';
import { Counter, Gauge, register } from 'prom-client';

/** What became of an attempt. `unmarked`: its claim had run out, so that somebody else tells. */
export type AttemptResult = 'delivered' | 'retried' | 'given-up' | 'gone' | 'unmarked';

const existing = <T>(name: string): T | undefined => register.getSingleMetric(name) as T | undefined;

/** What the sender counts, in the process's registry. */
@Injectable()
export class WebhookMetrics {
  readonly attempts = existing<Counter<'result'>>('quotaplane_webhook_attempts_total')
    ?? new Counter({ name: 'quotaplane_webhook_attempts_total', help: 'Attempts to deliver an event, by what became of them', labelNames: ['result'] });
  readonly pending = existing<Gauge>('quotaplane_webhook_deliveries_pending')
    ?? new Gauge({ name: 'quotaplane_webhook_deliveries_pending', help: 'Deliveries that wait for their first or next attempt' });
}
