import type { CompiledLimit, CompiledPeriod, CompiledQuota, Scope, Segment } from '@quotaplane/contracts';
import type { JournalCell } from '@quotaplane/usage';
import type { Call } from './call';
import type { CallShapes } from './call-shape';
import { capacityOf, CHARGE_KINDS, type ChargedLimit } from './charge-kinds';

/** A rate limit that applies to calls of one class and method. */
export type PlannedRate = ChargedLimit;

export interface PlannedQuota {
  readonly quota: CompiledQuota;
  /** `month`, or `month-<meter>`. */
  readonly name: string;
}

/** What applies to calls of one class and method within one segment; made once and kept as long as the segment. */
export interface CallPlan {
  readonly segment: Segment;
  readonly slug: string;
  readonly meter: string;
  readonly rates: readonly PlannedRate[];
  /** Proposed limits: judged and charged beside the live ones, never denying. */
  readonly shadows: readonly PlannedRate[];
  readonly quotas: readonly PlannedQuota[];
  /** Scopes by which the rates tell callers of one tenant apart. */
  readonly scopes: readonly Scope[];
  /** The rates count by route, too. */
  readonly isByRoute: boolean;
  /** Everything that is worked out of a call once for all that are like it; see call-shape. */
  shapes: CallShapes | undefined;
  readonly cells: JournalCell[];
  /** `RateLimit-Policy` by what applies, so that it is written once; see http/ratelimit-fields. */
  readonly policyFields: Map<string, string>;
  /** The one written last, with the names of the limits in it: nearly all calls of a plan have the same. */
  lastPolicyField: { readonly names: readonly string[]; readonly field: string } | undefined;
}

/** The plans of one segment. Calls of one class and method come in rows, so that the last plan is mostly the next. */
class SegmentPlans {
  private lastClass: Call['class'] | undefined;
  private lastMethod = '';
  private last: CallPlan | undefined;
  /** By method and class; few of each, and of one class at most as many as it has had meters. */
  private readonly byMethod = new Map<string, Map<string, CallPlan[]>>();

  constructor(private readonly segment: Segment) {}

  of(call: Pick<Call, 'class' | 'method'>): CallPlan {
    if (this.last !== undefined && call.class === this.lastClass && call.method === this.lastMethod) return this.last;
    const plan = this.find(call);
    [this.last, this.lastClass, this.lastMethod] = [plan, call.class, call.method];
    return plan;
  }

  private find(call: Pick<Call, 'class' | 'method'>): CallPlan {
    const { class: { slug, meter }, method } = call;
    let byClass = this.byMethod.get(method);
    if (!byClass) this.byMethod.set(method, (byClass = new Map()));
    let plans = byClass.get(slug);
    if (!plans) byClass.set(slug, (plans = []));
    let plan = plans.find((one) => one.meter === meter);
    if (!plan) plans.push((plan = makePlan(this.segment, call)));
    return plan;
  }
}

const plans = new WeakMap<Segment, SegmentPlans>();

/** The plan of a segment for a class and method. */
export function planOf(segment: Segment, call: Pick<Call, 'class' | 'method'>): CallPlan {
  let ofSegment = plans.get(segment);
  if (!ofSegment) plans.set(segment, (ofSegment = new SegmentPlans(segment)));
  return ofSegment.of(call);
}

function makePlan(segment: Segment, { class: { slug, meter }, method }: Pick<Call, 'class' | 'method'>): CallPlan {
  const limits = segment.limits
    .filter(isLimiting)
    .filter((limit) => limit.endpointClass === undefined || limit.endpointClass === slug)
    .filter((limit) => limit.methods === undefined || limit.methods.some((name) => name === method));
  const quotas = segment.quotas
    .filter((quota) => quota.meter === meter)
    .map((quota): PlannedQuota => ({ quota, name: meter === 'requests' ? 'month' : `month-${meter}` }));
  const rates = limits.filter((limit) => limit.mode === 'enforce').map(plannedRate);
  return {
    segment,
    slug,
    meter,
    rates,
    shadows: limits.filter((limit) => limit.mode === 'shadow').map(plannedRate),
    quotas,
    scopes: [...new Set(rates.map(({ limit }) => limit.scope))].filter((scope) => scope !== 'global' && scope !== 'tenant'),
    isByRoute: rates.some(({ limit }) => limit.perRoute === true),
    shapes: undefined,
    cells: [],
    policyFields: new Map(),
    lastPolicyField: undefined,
  };
}

const isLimiting = (limit: CompiledLimit): limit is CompiledLimit & { readonly limit: number } => limit.limit !== null;

const plannedRate = (limit: CompiledLimit & { readonly limit: number }): PlannedRate => ({ limit, kind: CHARGE_KINDS[limit.algorithm], capacity: capacityOf(limit) });

/** Cells of other tenants or generations kept with a plan; most have one for good, and the fallback policy's are not billed. */
const CELLS_MAX = 4;

/** The billing cell of an admission; the same object for the same cell, so that the journal builds no text for it. */
export function cellOf(plan: CallPlan, call: Call, period: CompiledPeriod, generation: number): JournalCell {
  const { cells } = plan;
  for (const known of cells) if (known.generation === generation && known.tenant === call.tenant) return known;
  const cell = { tenant: call.tenant, meter: call.class.meter, periodId: period.id, part: plan.segment.part, class: call.class.slug, generation };
  if (cells.length >= CELLS_MAX) cells.length = 0;
  cells.push(cell);
  return cell;
}
