import { Redis } from 'ioredis';
import { RedisStore, type RedisReply } from 'rate-limit-redis';
import { DAY_MS, EXACT_LIMIT, LARGE_LIMIT, SUBJECTS, WINDOW_MS } from '../scenario';
import { keysOf, type Ask, type Contender } from './contender';

/** The Redis store of express-rate-limit, counted as its middleware counts. */
export async function rateLimitRedis(redisUrl: string): Promise<Contender> {
  const redis = new Redis(redisUrl);
  const keys = keysOf(SUBJECTS.many, 'subject');
  const limited = async (prefix: string, limit: number, windowMs: number): Promise<Ask> => {
    const store = new RedisStore({ prefix, sendCommand: (command, ...args) => redis.call(command ?? '', ...args) as Promise<RedisReply> });
    store.windowMs = windowMs;
    await Promise.all([store.incrementScriptSha, store.getScriptSha]);
    return async (subject) => (await store.increment(keys[subject] ?? '')).totalHits <= limit;
  };
  const large = await limited('rlr:', LARGE_LIMIT, WINDOW_MS);
  return {
    asks: { many: large, hot: () => large(0), exact: await limited('rlr-exact:', EXACT_LIMIT, DAY_MS) },
    close: () => Promise.resolve(redis.disconnect()),
  };
}
