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
  /** Hand what they have counted over to the registry. */
  private readonly handOvers: (() => void)[] = [];

  constructor(private readonly name: string, private readonly description: string, labelNames: readonly Name[], registry: Registry) {
    const { handOvers } = this;
    this.counter = new Counter({
      name, help: description, labelNames: [...labelNames], registers: [registry],
      collect() {
        for (const handOver of handOvers) handOver();
      },
    });
  }

  inc(labels: Labels<Name>, count = 1): void {
    this.counter.inc(labels, count);
    this.twin?.add(count, labels);
  }

  /** For what is counted on every call: it adds up a number, and the registry hears of it when somebody reads it. */
  series(labels: Labels<Name>): CounterSeries {
    const own = this.counter.labels(labels);
    let pending = 0;
    this.handOvers.push(() => {
      if (pending > 0) own.inc(pending);
      pending = 0;
    });
    return {
      inc: (count = 1) => {
        pending += count;
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
  private readonly histogram: PlainHistogram;

  constructor(private readonly name: string, private readonly description: string, buckets: readonly number[], registry: Registry) {
    this.histogram = new PlainHistogram(name, description, buckets, registry);
  }

  observe(seconds: number): void {
    this.histogram.count(seconds);
    this.twin?.record(seconds);
  }

  mirrorTo(meter: OpenTelemetryMeter): void {
    this.twin = meter.createHistogram(this.name, { description: this.description, unit: 's' });
  }
}

type HistogramFigures = Awaited<ReturnType<Histogram['get']>>;

/** prom-client's own looks up its only set of labels with each value, which costs ten times as much as to count it. */
class PlainHistogram extends Histogram {
  /** Never observes; says what every histogram says of itself. */
  private readonly empty: Histogram;
  private counts: number[] = [];
  private sum = 0;

  constructor(private readonly ownName: string, help: string, private readonly bounds: readonly number[], registry: Registry) {
    super({ name: ownName, help, buckets: [...bounds], registers: [registry] });
    this.empty = new Histogram({ name: ownName, help, buckets: [...bounds], registers: [] });
  }

  count(value: number): void {
    let bucket = 0;
    while (value > (this.bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += value;
  }

  override async get(): Promise<HistogramFigures> {
    let total = 0;
    const values: HistogramFigures['values'] = [...this.bounds, '+Inf'].map((le, bucket) => {
      total += this.counts[bucket] ?? 0;
      return { labels: { le }, value: total, metricName: `${this.ownName}_bucket` };
    });
    values.push({ labels: {}, value: this.sum, metricName: `${this.ownName}_sum` }, { labels: {}, value: total, metricName: `${this.ownName}_count` });
    return { ...(await this.empty.get()), values };
  }

  /** What the registry's text is made from. */
  getForPromString(): Promise<HistogramFigures> {
    return this.get();
  }

  /** Also called while the base class is made, before there is anything to reset. */
  override reset(): void {
    this.counts = [];
    this.sum = 0;
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
