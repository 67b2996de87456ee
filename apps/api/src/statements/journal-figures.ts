import { redisKeys } from '@quotaplane/contracts';
import { parseJournalField } from '@quotaplane/usage';
import type { Redis } from 'ioredis';
import { meterKey } from './raw-sums';

const FIELDS_PER_READ = 2_000;

/** What the nodes' own hashes say: units admitted less refunded by {@link meterKey}, and whose hashes were read. */
export interface JournalFigures {
  readonly byMeter: ReadonlyMap<string, bigint>;
  readonly incarnations: ReadonlySet<string>;
}

/**
 * One pass over the journals of all incarnations, running and ended. Hashes are read piece by piece, so that none holds Redis up.
 * @param tenant only fields of this one
 */
export async function readJournalFigures(redis: Redis, tenant?: string): Promise<JournalFigures> {
  const [running, ended] = await Promise.all([redis.smembers(redisKeys.journals), redis.smembers(redisKeys.journalsEnded)]);
  const byMeter = new Map<string, bigint>();
  const incarnations = new Set<string>();
  for (const incarnation of [...new Set([...running, ...ended])].sort()) {
    const fields = await readHash(redis, redisKeys.journal(incarnation), tenant);
    if (fields === undefined) continue;
    incarnations.add(incarnation);
    for (const [field, value] of fields) {
      const parsed = parseJournalField(field);
      if (!parsed || parsed.hour !== null || !/^\d{1,16}$/.test(value) || (parsed.count !== 'admitted' && parsed.count !== 'refunded')) continue;
      const { cell, count } = parsed;
      const key = meterKey(cell.tenant, cell.periodId, cell.meter);
      byMeter.set(key, (byMeter.get(key) ?? 0n) + (count === 'admitted' ? BigInt(value) : -BigInt(value)));
    }
  }
  return { byMeter, incarnations };
}

/** A scan may give a field twice; the map keeps one. @returns undefined where there is no such hash */
async function readHash(redis: Redis, key: string, tenant: string | undefined): Promise<Map<string, string> | undefined> {
  const fields = new Map<string, string>();
  if ((await redis.type(key)) !== 'hash') return undefined;
  const match = tenant === undefined ? '*' : `${tenant}|*`;
  for (let cursor = '0'; ;) {
    const [next, found] = await redis.hscan(key, cursor, 'MATCH', match, 'COUNT', FIELDS_PER_READ);
    for (let at = 0; at < found.length; at += 2) fields.set(found[at] ?? '', found[at + 1] ?? '');
    if (next === '0') return fields;
    cursor = next;
  }
}
