import { SCRIPTS } from './lua/scripts.generated';
import type { UsageRedis } from './usage-redis';

/** Counts of one call: few enough to hold neither side for long. */
const COUNTS_PER_CALL = 500;

/**
 * Adds counts to the fields of one hash, some hundreds a call and one call after the other, so that neither this process nor the store is held for long.
 * Nothing is sent twice, for it would be counted twice.
 * @param redis of a single server, or of a cluster
 * @param counts whole numbers of 1 to 2^53-1
 * @param ttlMs how long the hash lives from the last call on
 * @param onDropped told how much of the counts was not added, or may not have been: a call can fail after it has added
 * @throws the first error of a call, when all calls were tried
 */
export async function addCounts(redis: UsageRedis, key: string, counts: readonly (readonly [field: string, count: number])[], ttlMs: number, onDropped: (count: number) => void): Promise<void> {
  let failure: unknown;
  for (let from = 0; from < counts.length; from += COUNTS_PER_CALL) {
    const some = counts.slice(from, from + COUNTS_PER_CALL);
    try {
      const dropped = Number(await addSome(redis, key, some, ttlMs));
      if (dropped === 0) continue;
      onDropped(dropped);
      failure ??= new Error(`${dropped} counts could not be added to ${key}`);
    } catch (error) {
      onDropped(some.reduce((sum, [, count]) => sum + count, 0));
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
}

async function addSome(redis: UsageRedis, key: string, counts: readonly (readonly [string, number])[], ttlMs: number): Promise<unknown> {
  const { sha1, source } = SCRIPTS['add-counts'];
  const text = `{${counts.map(([field, count]) => `${JSON.stringify(field)}:${count}`).join(',')}}`;
  try {
    return await redis.evalsha(sha1, 1, key, ttlMs, text);
  } catch (error) {
    // The store has lost its scripts, and done nothing.
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return redis.eval(source, 1, key, ttlMs, text);
  }
}
