import type { StoredQuota } from '@quotaplane/rate-limit';
import type { ComparedCounter, JournaledCounter } from './counter-sql';

/** A counter as it was read, with what the journals had said before that. */
export interface CounterSample {
  /** Folded before the counter was read: no admission in it is missing from the counter. */
  readonly before: JournaledCounter;
  readonly stored: StoredQuota;
}

const atLeastZero = (units: bigint): bigint => (units > 0n ? units : 0n);

/**
 * Holds a counter against the journals. Units that only the counter has: a node died before it could journal them; less what may stand in it for
 * calls that were answered without the store. Units that only the journals have: the counter lost them. Both are lower bounds while calls go on, since
 * admissions and refunds of the time between count against them, and exact where nothing moved.
 * @param after folded when every living node had flushed since the counter was read
 */
export function compareCounter({ before, stored }: CounterSample, after: JournaledCounter): ComparedCounter {
  const counted = stored.counter ?? 0n;
  const isExact = after.admitted === before.admitted && after.refunded === before.refunded;
  return {
    tenant: before.tenant, meter: before.meter, periodId: before.periodId, part: before.part, generation: before.generation,
    counted,
    recovered: atLeastZero(counted - (after.admitted - before.refunded) - after.doubtful),
    gap: atLeastZero(before.admitted - after.refunded - counted),
    // A counter that is gone proves nothing against what was recovered while it was there.
    isExact: isExact && stored.counter !== null,
  };
}
