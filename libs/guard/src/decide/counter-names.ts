import { createHash } from 'node:crypto';
import type { Segment } from '@quotaplane/contracts';
import { counterKey, penaltyKey, quotaKeys, slotKey, type CounterName, type PenaltyRule } from '@quotaplane/rate-limit';
import { subjectOf, type Call } from './call';
import type { CallPlan, PlannedQuota, PlannedRate } from './call-plan';

/** Name of a counter and the non-secret partition key that stands for it in the `RateLimit` field. */
export interface CounterReference {
  readonly counter: string;
  readonly partition: Buffer;
  /** Strikes and bans of the counter's subject. */
  readonly penalty?: PenaltyRule;
}

export interface QuotaReference extends CounterReference {
  readonly base: string;
  /** Counter of the slower lane past the allowance. */
  readonly lane: string;
}

/** Most counter names remembered per limit; a name costs ten times a look-up. */
const COUNTERS_MAX = 2000;
const PARTITION_BYTES = 9;
/** What caps the calls in flight of a tenant, in keys, fields and denials. */
export const SLOT_NAME = 'in-flight';

/** Name of the slower lane past a quota's allowance, as headers and denials show it. */
export const throttleName = (quotaName: string): string => `${quotaName}-throttle`;

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
  const name: CounterName = {
    tenant: call.tenant,
    limit: limit.name,
    algorithm: limit.algorithm,
    windowMs: limit.windowMs,
    scope: limit.scope,
    subject,
    ...(narrow === undefined ? {} : { narrow }),
  };
  const counter = counterKey(name);
  const reference: CounterReference = {
    counter,
    partition: partitionOf(counter),
    ...(limit.penalty ? { penalty: { ...limit.penalty, counter: penaltyKey(name) } } : {}),
  };
  return remembered(rate.counters, id, reference);
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
  return remembered(counters, id, { ...keys, lane, partition: partitionOf(keys.counter) });
}

/** The counter of a tenant's calls in flight. */
export function slotCounterOf({ slotCounters }: CallPlan, tenant: string, generation: number): CounterReference {
  const id = `${tenant}/${generation}`;
  const known = slotCounters.get(id);
  if (known) return known;
  const counter = slotKey({ tenant, name: SLOT_NAME, generation });
  return remembered(slotCounters, id, { counter, partition: partitionOf(counter) });
}

function remembered<Reference>(counters: Map<string, Reference>, id: string, reference: Reference): Reference {
  if (counters.size >= COUNTERS_MAX) counters.clear();
  counters.set(id, reference);
  return reference;
}

/** A short hash: names the partition without telling its subject. */
function partitionOf(counter: string): Buffer {
  return createHash('sha256').update(counter).digest().subarray(0, PARTITION_BYTES);
}
