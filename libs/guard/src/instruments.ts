import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { OpenTelemetryMeter } from './open-telemetry';

type Labels<Name extends string> = Readonly<Record<Name, string>>;

/** One combination of a counter's labels, looked up once and counted often. */
export interface CounterSeries {
  inc(count?: number): void;
}

/** A counter for Prometheus and, once there is a Meter, for OpenTelemetry. */
export class MirroredCounter<Name extends string> {
  private twin: ReturnType<OpenTelemetryMeter['createCounter']> | undefined;
  private readonly counter: Counter<Name>;

  constructor(private readonly name: string, private readonly description: string, labelNames: readonly Name[], registry: Registry) {
    this.counter = new Counter({ name, help: description, labelNames: [...labelNames], registers: [registry] });
  }

  inc(labels: Labels<Name>, count = 1): void {
    this.counter.inc(labels, count);
    this.twin?.add(count, labels);
  }

  series(labels: Labels<Name>): CounterSeries {
    const own = this.counter.labels(labels);
    return {
      inc: (count = 1) => {
        own.inc(count);
        this.twin?.add(count, labels);
      },
    };
  }

  mirrorTo(meter: OpenTelemetryMeter): void {
    this.twin = meter.createCounter(this.name, { description: this.description });
  }
}

/** A histogram without labels, in seconds. */
export class MirroredHistogram {
  private twin: ReturnType<OpenTelemetryMeter['createHistogram']> | undefined;
  private readonly histogram: Histogram;

  constructor(private readonly name: string, private readonly description: string, buckets: readonly number[], registry: Registry) {
    this.histogram = new Histogram({ name, help: description, buckets: [...buckets], registers: [registry] });
  }

  observe(seconds: number): void {
    this.histogram.observe(seconds);
    this.twin?.record(seconds);
  }

  mirrorTo(meter: OpenTelemetryMeter): void {
    this.twin = meter.createHistogram(this.name, { description: this.description, unit: 's' });
  }
}

/** A figure that is read when somebody asks for it. */
export class MirroredGauge {
  constructor(private readonly name: string, private readonly description: string, private readonly read: () => number, registry: Registry) {
    new Gauge({
      name, help: description, registers: [registry],
      collect() {
        this.set(read());
      },
    });
  }

  mirrorTo(meter: OpenTelemetryMeter): void {
    meter.createObservableGauge(this.name, { description: this.description }).addCallback((result) => result.observe(this.read()));
  }
}
