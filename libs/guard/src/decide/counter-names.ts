import { hash } from 'node:crypto';
import type { Segment } from '@quotaplane/contracts';
import { counterKey, penaltyKey, quotaKeys, slotKey, type CounterName, type PenaltyRule } from '@quotaplane/rate-limit';
import { subjectOf, type Call } from './call';
import type { PlannedQuota, PlannedRate } from './call-plan';

/** Name of a counter and the non-secret partition key that stands for it in the `RateLimit` field. */
export interface CounterReference {
  readonly counter: string;
  readonly partition: string;
  /** Strikes and bans of the counter's subject. */
  readonly penalty?: PenaltyRule;
}

export interface QuotaReference extends CounterReference {
  readonly base: string;
  /** Counter of the slower lane past the allowance. */
  readonly lane: string;
}

/** Base64 of 9 bytes, which ends on a whole byte. */
const PARTITION_LENGTH = 12;
/** What caps the calls in flight of a tenant, in keys, fields and denials. */
export const SLOT_NAME = 'in-flight';

/** Name of the slower lane past a quota's allowance, as headers and denials show it. */
export const throttleName = (quotaName: string): string => `${quotaName}-throttle`;

/** Names the counter of a limit for this call; undefined where the limit does not apply to it. Costs microseconds: kept with the shape of the call. */
export function counterOf({ limit }: PlannedRate, call: Call): CounterReference | undefined {
  const subject = subjectOf(call, limit.scope);
  if (subject === undefined || subject === '' && limit.scope !== 'global' && limit.scope !== 'tenant') return undefined;
  const narrow = limit.perRoute ? call.route : limit.endpointClass;
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
  return {
    counter,
    partition: partitionOf(counter),
    ...(limit.penalty ? { penalty: { ...limit.penalty, counter: penaltyKey(name) } } : {}),
  };
}

/** Names the counter of a quota in one generation, and the ledger's base beside it. */
export function quotaCounterOf({ quota, name }: PlannedQuota, { period, part }: Segment, tenant: string, generation: number): QuotaReference {
  const keys = quotaKeys({ tenant, meter: quota.meter, periodId: period.id, part, generation });
  // Narrowed, so that it never meets the counter of a limit that happens to have the same name.
  const lane = counterKey({
    tenant, limit: throttleName(name), algorithm: 'token-bucket', windowMs: quota.throttle?.windowMs ?? 0, scope: 'tenant', subject: '', narrow: 'quota',
  });
  return { ...keys, lane, partition: partitionOf(keys.counter) };
}

/** Names the counter of a tenant's calls in flight. */
export function slotCounterOf(tenant: string, generation: number): CounterReference {
  const counter = slotKey({ tenant, name: SLOT_NAME, generation });
  return { counter, partition: partitionOf(counter) };
}

/**
 * A short hash: names the partition without telling its subject. In base64, as the field shows it: a text is far smaller than a buffer. At one go, for an
 * object of Node's that hashes step by step costs more than the hash.
 */
function partitionOf(counter: string): string {
  return hash('sha256', counter, 'base64').slice(0, PARTITION_LENGTH);
}
