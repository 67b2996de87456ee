import { redisKeys } from '@quotaplane/contracts';
import type { Redis } from 'ioredis';

const TYPES: Readonly<Record<string, string>> = {
  [redisKeys.classes]: 'string',
  [redisKeys.fallback]: 'string',
  [redisKeys.lists]: 'string',
  [redisKeys.penalties]: 'hash',
  [redisKeys.wanted]: 'set',
  [redisKeys.changes]: 'stream',
  [redisKeys.nodes]: 'hash',
  [redisKeys.journals]: 'set',
  [redisKeys.journalAcks]: 'hash',
};

/**
 * Removes keys of the whole platform that somebody has put in another type: every guard and worker fails at them, and none can replace them. Whoever
 * owns one writes it anew within a second.
 * @returns their names
 */
export async function removeForeignTypes(redis: Redis): Promise<string[]> {
  const keys = Object.keys(TYPES);
  const types = await Promise.all(keys.map((key) => redis.type(key)));
  const foreign = keys.filter((key, index) => types[index] !== 'none' && types[index] !== TYPES[key]);
  await Promise.all(foreign.map((key) => redis.del(key)));
  return foreign;
}
