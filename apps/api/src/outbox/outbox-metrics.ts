import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Histogram, register, type Registry } from 'prom-client';

const named = <T>(registry: Registry, name: string, make: () => T): T => (registry.getSingleMetric(name) as T | undefined) ?? make();

/** What the worker counts, in the process's registry. */
@Injectable()
export class OutboxMetrics {
  /** Alarm: each is an interrupted publish or a restored backup. */
  readonly storeAhead = named(register, 'quotaplane_store_ahead_total', () =>
    new Counter({ name: 'quotaplane_store_ahead_total', help: 'Policies whose revision in Redis was above the one in Postgres' }));
  readonly generationsRaised = named(register, 'quotaplane_generations_raised_total', () =>
    new Counter({ name: 'quotaplane_generations_raised_total', help: 'Tenants whose generation was raised because Redis had lost their head' }));
  readonly changesPublished = named(register, 'quotaplane_changes_published_total', () =>
    new Counter({ name: 'quotaplane_changes_published_total', help: 'Changes published to Redis' }));
  readonly changesFailed = named(register, 'quotaplane_changes_failed_total', () =>
    new Counter({ name: 'quotaplane_changes_failed_total', help: 'Attempts to publish a change that failed' }));
  readonly publishSeconds = named(register, 'quotaplane_publish_seconds', () =>
    new Histogram({ name: 'quotaplane_publish_seconds', help: 'From claiming a batch of changes until all of it was published', buckets: [0.005, 0.01, 0.03, 0.1, 0.3, 1, 2, 10] }));
  readonly foldedAt = named(register, 'quotaplane_usage_folded_timestamp_seconds', () =>
    new Gauge({ name: 'quotaplane_usage_folded_timestamp_seconds', help: 'When journals were last folded into Postgres' }));
}
