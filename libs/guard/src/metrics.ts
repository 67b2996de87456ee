import type { Decision, FailMode } from '@quotaplane/contracts';
import type { RetryResult } from '@quotaplane/usage';
import { Registry } from 'prom-client';
import type { RefundReason } from './decide/admission-debt';
import type { Ban } from './decide/penalty-log';
import type { ShadowDecision } from './decide/shadow-judge';
import { MirroredCounter, MirroredGauge, MirroredHistogram, type CounterSeries } from './instruments';
import type { OpenTelemetryMeter } from './open-telemetry';

/** 0.1 ms to 100 ms: a decision is one round trip, and its budget ends at 25 ms. */
const DURATION_BUCKETS_S = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1];

interface DecisionSeries {
  readonly scope: string;
  readonly class: string;
  readonly result: string;
  readonly source: string;
  readonly series: CounterSeries;
}

/**
 * Metrics of the guard, for Prometheus and, when switched on, for OpenTelemetry under the same names. No label ever names a tenant or a subject:
 * their number is not bounded.
 */
export class QuotaMetrics {
  readonly registry: Registry;
  private readonly decisions;
  private readonly durations;
  private readonly storeErrors;
  private readonly statisticsDropped;
  private readonly fallbacks;
  private readonly slotsLost;
  private readonly refunds;
  private readonly shadows;
  private readonly bans;
  private readonly retries;
  private readonly inUse;
  /** By name of the binding limit: a few each. */
  private readonly decisionSeries = new Map<string, DecisionSeries[]>();
  private readSlots: () => number = () => 0;

  /** @param registry of the service; one of its own when left out */
  constructor(registry: Registry = new Registry()) {
    this.registry = registry;
    const counter = <Name extends string>(name: string, help: string, ...labelNames: Name[]): MirroredCounter<Name> =>
      new MirroredCounter(`quotaplane_${name}`, help, labelNames, registry);
    this.decisions = counter(
      'decisions_total', 'Decisions by binding limit, its scope, endpoint class, result (allowed, or the code of the refusal) and source',
      'limit', 'scope', 'class', 'result', 'source',
    );
    this.durations = new MirroredHistogram('quotaplane_decision_duration_seconds', 'Time from arrival in the guard to the decision', DURATION_BUCKETS_S, registry);
    this.storeErrors = counter('store_errors_total', 'Checks that the store did not answer, by cause', 'cause');
    this.statisticsDropped = counter(
      'statistics_dropped_total', 'Counts of offenders and traffic that found no room or went with a failed flush; bills never depend on them',
    );
    this.fallbacks = counter('fallbacks_total', 'Decisions made without the store, by fail mode and endpoint class', 'mode', 'class');
    this.slotsLost = counter('slots_lost_total', 'Answers that were cut off because the lease of their slot ran out', 'class');
    this.refunds = counter('refunds_total', 'Calls whose units went back, by endpoint class and reason (4xx, 5xx, aborted, gone before its turn)', 'class', 'reason');
    this.shadows = counter('shadow_decisions_total', 'What proposed limits would have said, by limit, scope, endpoint class and result', 'limit', 'scope', 'class', 'result');
    this.bans = counter('bans_total', 'Bans that denials began, by limit, scope and endpoint class', 'limit', 'scope', 'class');
    this.retries = counter('retries_total', 'Next calls after a denial: early, passed after waiting as told, or denied again', 'result');
    this.inUse = new MirroredGauge('quotaplane_concurrency_in_use', 'Slots that calls of this process hold', () => this.readSlots(), registry);
  }

  /** @internal Mirrors every instrument from here on. */
  mirrorTo(meter: OpenTelemetryMeter): void {
    const { decisions, durations, storeErrors, statisticsDropped, fallbacks, slotsLost, refunds, shadows, bans, retries, inUse } = this;
    for (const one of [decisions, durations, storeErrors, statisticsDropped, fallbacks, slotsLost, refunds, shadows, bans, retries, inUse]) one.mirrorTo(meter);
  }

  /** @internal */
  decided(decision: Decision, endpointClass: string, tookMs: number, result: string = decision.code ?? decision.outcome): void {
    this.seriesOf(decision, endpointClass, result).inc();
    this.durations.observe(tookMs / 1000);
  }

  /** Compares instead of gluing a name together: this runs on every call. */
  private seriesOf({ binding, source }: Decision, endpointClass: string, result: string): CounterSeries {
    const limit = binding?.name ?? 'none';
    const scope = binding?.scope ?? 'none';
    let ofLimit = this.decisionSeries.get(limit);
    if (!ofLimit) this.decisionSeries.set(limit, (ofLimit = []));
    for (const one of ofLimit) if (one.class === endpointClass && one.result === result && one.source === source && one.scope === scope) return one.series;
    const labels = { limit, scope, class: endpointClass, result, source };
    const series = this.decisions.series(labels);
    ofLimit.push({ ...labels, series });
    return series;
  }

  /** @internal */
  storeFailed(cause: string): void {
    this.storeErrors.inc({ cause });
  }

  /** @internal */
  droppedStatistics(count: number): void {
    this.statisticsDropped.inc({}, count);
  }

  /** @internal */
  fellBack(mode: FailMode, endpointClass: string): void {
    this.fallbacks.inc({ mode, class: endpointClass });
  }

  /** @internal */
  lostSlot(endpointClass: string): void {
    this.slotsLost.inc({ class: endpointClass });
  }

  /** @internal */
  refunded(endpointClass: string, reason: RefundReason): void {
    this.refunds.inc({ class: endpointClass, reason });
  }

  /** @internal */
  shadowed({ limit, scope, class: endpointClass, result }: ShadowDecision): void {
    this.shadows.inc({ limit, scope, class: endpointClass, result });
  }

  /** @internal */
  banned({ limit, scope }: Ban, endpointClass: string): void {
    this.bans.inc({ limit, scope, class: endpointClass });
  }

  /** @internal */
  retried(result: RetryResult): void {
    this.retries.inc({ result });
  }

  /** @internal */
  watchSlots(read: () => number): void {
    this.readSlots = read;
  }
}
