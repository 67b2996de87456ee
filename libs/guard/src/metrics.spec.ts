import { metrics as openTelemetry, type Meter } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { QuotaMetrics } from './metrics';
import { globalMeter, type OpenTelemetryMeter } from './open-telemetry';

/** Keeps what is recorded, by instrument and attributes. */
class KeptMeter implements OpenTelemetryMeter {
  readonly counts = new Map<string, number>();
  readonly durations: number[] = [];
  readonly gauges = new Map<string, number>();

  createCounter(name: string): ReturnType<OpenTelemetryMeter['createCounter']> {
    return {
      add: (value, attributes = {}) => {
        const id = `${name}${JSON.stringify(attributes)}`;
        this.counts.set(id, (this.counts.get(id) ?? 0) + value);
      },
    };
  }

  createHistogram(): ReturnType<OpenTelemetryMeter['createHistogram']> {
    return { record: (value) => void this.durations.push(value) };
  }

  createObservableGauge(name: string): ReturnType<OpenTelemetryMeter['createObservableGauge']> {
    return { addCallback: (callback) => callback({ observe: (value) => void this.gauges.set(name, value) }) };
  }
}

const countEach = (metrics: QuotaMetrics): void => {
  metrics.decided({ outcome: 'allowed', source: 'store', tenant: 'acme', tier: 'pro', revision: 1, cost: 1, limits: [] }, 'search', 2);
  metrics.decided({ outcome: 'denied', code: 'rate_limited', source: 'local', tenant: 'acme', tier: 'pro', revision: 1, cost: 1, limits: [] }, 'search', 3);
  metrics.storeFailed('deadline');
  metrics.droppedStatistics(3);
  metrics.fellBack('local', 'search');
  metrics.lostSlot('search');
  metrics.refunded('search', '5xx');
  metrics.shadowed({ limit: 'proposed', scope: 'tenant', class: 'search', result: 'denied' });
  metrics.banned({ tenant: 'acme', limit: 'login', scope: 'ip', subject: '192.0.2.1', counter: 'c', startedMs: 0, untilMs: 1, level: 1 }, 'login');
  metrics.retried('passed');
};

describe('the metrics of the guard', () => {
  it('say the same to OpenTelemetry as to Prometheus', async () => {
    const metrics = new QuotaMetrics();
    metrics.watchSlots(() => 7);
    const meter = new KeptMeter();
    metrics.mirrorTo(meter);
    countEach(metrics);
    const told = new Map<string, number>();
    for (const { name, values, type } of await metrics.registry.getMetricsAsJSON()) {
      if (String(type) === 'counter') for (const { labels, value } of values) if (value > 0) told.set(`${name}${JSON.stringify(labels)}`, value);
    }
    expect(told.size).toBe(10);
    expect([...meter.counts].sort()).toEqual([...told].sort());
    expect(meter.durations).toEqual([0.002, 0.003]);
    expect(meter.gauges).toEqual(new Map([['quotaplane_concurrency_in_use', 7]]));
  });

  it('name no tenant and no subject', async () => {
    const metrics = new QuotaMetrics();
    countEach(metrics);
    const text = await metrics.registry.metrics();
    expect(text).not.toContain('acme');
    expect(text).not.toContain('192.0.2.1');
  });

  it('count without anybody to mirror to, and find the service\'s own meter when asked', async () => {
    countEach(new QuotaMetrics());
    const own: Meter = openTelemetry.getMeter('own');
    openTelemetry.setGlobalMeterProvider({ getMeter: (name) => (name === 'quotaplane' ? own : openTelemetry.getMeter(name)) });
    const meter = await globalMeter();
    openTelemetry.disable();
    expect(meter).toBe(own);
    const metrics = new QuotaMetrics();
    metrics.mirrorTo(meter);
    expect(() => countEach(metrics)).not.toThrow();
  });
});
