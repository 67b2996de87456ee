import type { Decision, FailMode } from '@quotaplane/contracts';
import { Counter, Histogram, Registry } from 'prom-client';

/** 0.1 ms to 100 ms: a decision is one round trip, and its budget ends at 25 ms. */
const DURATION_BUCKETS_S = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1];

/** Metrics of the guard. No label ever names a tenant or a subject: their number is not bounded. */
export class QuotaMetrics {
  readonly registry: Registry;
  private readonly decisions: Counter<'limit' | 'scope' | 'class' | 'result' | 'source'>;
  private readonly durations: Histogram;
  private readonly storeErrors: Counter<'cause'>;
  private readonly fallbacks: Counter<'mode' | 'class'>;
  private readonly statisticsDropped: Counter;
  private readonly decisionSeries = new Map<string, Counter.Internal>();

  /** @param registry of the service; one of its own when left out */
  constructor(registry: Registry = new Registry()) {
    this.registry = registry;
    const registers = [registry];
    this.decisions = new Counter({
      name: 'quotaplane_decisions_total',
      help: 'Decisions by binding limit, its scope, endpoint class, result (allowed, or the code of the refusal) and source',
      labelNames: ['limit', 'scope', 'class', 'result', 'source'],
      registers,
    });
    this.durations = new Histogram({
      name: 'quotaplane_decision_duration_seconds',
      help: 'Time from arrival in the guard to the decision',
      buckets: DURATION_BUCKETS_S,
      registers,
    });
    this.storeErrors = new Counter({ name: 'quotaplane_store_errors_total', help: 'Checks that the store did not answer, by cause', labelNames: ['cause'], registers });
    this.statisticsDropped = new Counter({
      name: 'quotaplane_statistics_dropped_total',
      help: 'Counts of offenders and traffic that found no room or went with a failed flush; bills never depend on them',
      registers,
    });
    this.fallbacks = new Counter({
      name: 'quotaplane_fallbacks_total',
      help: 'Decisions made without the store, by fail mode and endpoint class',
      labelNames: ['mode', 'class'],
      registers,
    });
  }

  /** @internal */
  decided(decision: Decision, endpointClass: string, tookMs: number, result: string = decision.code ?? decision.outcome): void {
    const limit = decision.binding?.name ?? 'none';
    const scope = decision.binding?.scope ?? 'none';
    const id = `${limit} ${scope} ${endpointClass} ${result} ${decision.source}`;
    let series = this.decisionSeries.get(id);
    if (!series) {
      series = this.decisions.labels({ limit, scope, class: endpointClass, result, source: decision.source });
      this.decisionSeries.set(id, series);
    }
    series.inc();
    this.durations.observe(tookMs / 1000);
  }

  /** @internal */
  storeFailed(cause: string): void {
    this.storeErrors.inc({ cause });
  }

  /** @internal */
  droppedStatistics(count: number): void {
    this.statisticsDropped.inc(count);
  }

  /** @internal */
  fellBack(mode: FailMode, endpointClass: string): void {
    this.fallbacks.inc({ mode, class: endpointClass });
  }
}
