import type { CompiledLimit, CompiledPeriod, CompiledQuota, Segment } from '@quotaplane/contracts';
import type { JournalCell } from '@quotaplane/usage';
import type { Call } from './call';
import { capacityOf, CHARGE_KINDS, type ChargedLimit } from './charge-kinds';
import type { CounterReference, QuotaReference } from './counter-names';

/** A rate limit that applies to calls of one class and method. */
export interface PlannedRate extends ChargedLimit {
  readonly counters: Map<string, CounterReference>;
}

export interface PlannedQuota {
  readonly quota: CompiledQuota;
  /** `month`, or `month-<meter>`. */
  readonly name: string;
  readonly counters: Map<string, QuotaReference>;
}

/** What applies to calls of one class and method within one segment; made once and kept as long as the segment. */
export interface CallPlan {
  readonly segment: Segment;
  readonly rates: readonly PlannedRate[];
  /** Proposed limits: judged and charged beside the live ones, never denying. */
  readonly shadows: readonly PlannedRate[];
  readonly quotas: readonly PlannedQuota[];
  readonly slotCounters: Map<string, CounterReference>;
  readonly cells: Map<number, JournalCell>;
  /** `RateLimit-Policy` by what applies, so that it is written once; see http/ratelimit-fields. */
  readonly policyFields: Map<string, string>;
}

const plans = new WeakMap<Segment, Map<string, CallPlan>>();

/** The plan of a segment for a class and method. */
export function planOf(segment: Segment, call: Pick<Call, 'class' | 'method'>): CallPlan {
  let ofSegment = plans.get(segment);
  if (!ofSegment) plans.set(segment, (ofSegment = new Map()));
  const id = `${call.method} ${call.class.meter} ${call.class.slug}`;
  let plan = ofSegment.get(id);
  if (!plan) ofSegment.set(id, (plan = makePlan(segment, call)));
  return plan;
}

function makePlan(segment: Segment, { class: { slug, meter }, method }: Pick<Call, 'class' | 'method'>): CallPlan {
  const limits = segment.limits
    .filter(isLimiting)
    .filter((limit) => limit.endpointClass === undefined || limit.endpointClass === slug)
    .filter((limit) => limit.methods === undefined || limit.methods.some((name) => name === method));
  const quotas = segment.quotas
    .filter((quota) => quota.meter === meter)
    .map((quota): PlannedQuota => ({ quota, name: meter === 'requests' ? 'month' : `month-${meter}`, counters: new Map() }));
  return {
    segment,
    rates: limits.filter((limit) => limit.mode === 'enforce').map(plannedRate),
    shadows: limits.filter((limit) => limit.mode === 'shadow').map(plannedRate),
    quotas,
    slotCounters: new Map(),
    cells: new Map(),
    policyFields: new Map(),
  };
}

const isLimiting = (limit: CompiledLimit): limit is CompiledLimit & { readonly limit: number } => limit.limit !== null;

const plannedRate = (limit: CompiledLimit & { readonly limit: number }): PlannedRate => ({
  limit, kind: CHARGE_KINDS[limit.algorithm], capacity: capacityOf(limit), counters: new Map(),
});

/** The billing cell of an admission; the same object for the same cell, so that the journal builds no text for it. */
export function cellOf(plan: CallPlan, call: Call, period: CompiledPeriod, generation: number): JournalCell {
  let cell = plan.cells.get(generation);
  if (!cell) {
    cell = { tenant: call.tenant, meter: call.class.meter, periodId: period.id, part: plan.segment.part, class: call.class.slug, generation };
    plan.cells.set(generation, cell);
  }
  return cell;
}
