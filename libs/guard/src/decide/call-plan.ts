import { createHash } from 'node:crypto';
import { BUCKET_ALGORITHMS, type CompiledLimit, type CompiledPeriod, type CompiledQuota, type Segment } from '@quotaplane/contracts';
import { counterKey, quotaKeys } from '@quotaplane/rate-limit';
import type { JournalCell } from '@quotaplane/usage';
import { subjectOf, type Call } from './call';

/** A rate limit that applies to calls of one class and method, its numbers ready to be charged. */
export interface PlannedRate {
  readonly limit: CompiledLimit & { readonly limit: number };
  readonly kind: 'bucket' | 'window';
  /** What is available when untouched; 0 where the limit is 0. */
  readonly capacity: number;
  readonly counters: Map<string, CounterReference>;
}

export interface PlannedQuota {
  readonly quota: CompiledQuota;
  /** `month`, or `month-<meter>`. */
  readonly name: string;
  readonly counters: Map<string, QuotaReference>;
}

/** Name of a counter and the non-secret partition key that stands for it in the `RateLimit` field. */
export interface CounterReference {
  readonly counter: string;
  readonly partition: Buffer;
}

export interface QuotaReference extends CounterReference {
  readonly base: string;
  /** Counter of the slower lane past the allowance. */
  readonly lane: string;
}

/** Name of the slower lane past a quota's allowance, as headers and denials show it. */
export const throttleName = (quotaName: string): string => `${quotaName}-throttle`;

/** What applies to calls of one class and method within one segment; made once and kept as long as the segment. */
export interface CallPlan {
  readonly segment: Segment;
  readonly rates: readonly PlannedRate[];
  readonly quotas: readonly PlannedQuota[];
  readonly cells: Map<number, JournalCell>;
  /** `RateLimit-Policy` by what applies, so that it is written once; see http/ratelimit-fields. */
  readonly policyFields: Map<string, string>;
}

/** Most counter names remembered per limit; a name costs ten times a look-up. */
const COUNTERS_MAX = 2000;
const PARTITION_BYTES = 9;

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
  const rates = segment.limits
    .filter(isLimiting)
    .filter((limit) => limit.mode === 'enforce')
    .filter((limit) => limit.endpointClass === undefined || limit.endpointClass === slug)
    .filter((limit) => limit.methods === undefined || limit.methods.some((name) => name === method))
    .map((limit): PlannedRate => {
      const isBucket = BUCKET_ALGORITHMS.includes(limit.algorithm);
      const full = isBucket ? (limit.burst ?? limit.limit) : limit.limit;
      return { limit, kind: isBucket ? 'bucket' : 'window', capacity: limit.limit === 0 ? 0 : full, counters: new Map() };
    });
  const quotas = segment.quotas
    .filter((quota) => quota.meter === meter)
    .map((quota): PlannedQuota => ({ quota, name: meter === 'requests' ? 'month' : `month-${meter}`, counters: new Map() }));
  return { segment, rates, quotas, cells: new Map(), policyFields: new Map() };
}

const isLimiting = (limit: CompiledLimit): limit is CompiledLimit & { readonly limit: number } => limit.limit !== null;

/** The counter of a limit for this call; undefined where the limit does not apply to it. */
export function counterOf(rate: PlannedRate, call: Call): CounterReference | undefined {
  const { limit } = rate;
  const subject = subjectOf(call, limit.scope);
  if (subject === undefined || subject === '' && limit.scope !== 'global' && limit.scope !== 'tenant') return undefined;
  const narrow = limit.perRoute ? call.route : limit.endpointClass;
  // '/' cannot occur in a slug and '\n' in no route, so that two calls never meet in one entry.
  const id = `${call.tenant}/${limit.perRoute ? call.route : ''}\n${subject}`;
  const known = rate.counters.get(id);
  if (known) return known;
  const counter = counterKey({
    tenant: call.tenant,
    limit: limit.name,
    algorithm: limit.algorithm,
    windowMs: limit.windowMs,
    scope: limit.scope,
    subject,
    ...(narrow === undefined ? {} : { narrow }),
  });
  const reference = { counter, partition: partitionOf(counter) };
  if (rate.counters.size >= COUNTERS_MAX) rate.counters.clear();
  rate.counters.set(id, reference);
  return reference;
}

/** The counter of a quota in one generation, and the ledger's base beside it. */
export function quotaCounterOf({ quota, name, counters }: PlannedQuota, { period, part }: Segment, tenant: string, generation: number): QuotaReference {
  const id = `${tenant}/${generation}`;
  const known = counters.get(id);
  if (known) return known;
  const keys = quotaKeys({ tenant, meter: quota.meter, periodId: period.id, part, generation });
  // Narrowed, so that it never meets the counter of a limit that happens to have the same name.
  const lane = counterKey({
    tenant, limit: throttleName(name), algorithm: 'token-bucket', windowMs: quota.throttle?.windowMs ?? 0, scope: 'tenant', subject: '', narrow: 'quota',
  });
  const reference = { ...keys, lane, partition: partitionOf(keys.counter) };
  if (counters.size >= COUNTERS_MAX) counters.clear();
  counters.set(id, reference);
  return reference;
}

/** A short hash: names the partition without telling its subject. */
function partitionOf(counter: string): Buffer {
  return createHash('sha256').update(counter).digest().subarray(0, PARTITION_BYTES);
}

/** The billing cell of an admission; the same object for the same cell, so that the journal builds no text for it. */
export function cellOf(plan: CallPlan, call: Call, period: CompiledPeriod, generation: number): JournalCell {
  let cell = plan.cells.get(generation);
  if (!cell) {
    cell = { tenant: call.tenant, meter: call.class.meter, periodId: period.id, part: plan.segment.part, class: call.class.slug, generation };
    plan.cells.set(generation, cell);
  }
  return cell;
}
