import RedisStore from '@fastify/rate-limit/store/RedisStore.js';
import { Redis } from 'ioredis';
import { DAY_MS, EXACT_LIMIT, LARGE_LIMIT, SUBJECTS, WINDOW_MS } from '../scenario';
import { ContenderError, keysOf, type Ask, type Contender } from './contender';

/** The Redis store of @fastify/rate-limit, used directly. */
export function fastifyRateLimit(redisUrl: string): Promise<Contender> {
  const redis = new Redis(redisUrl);
  const keys = keysOf(SUBJECTS.many, 'subject');
  const limited = (prefix: string, limit: number, windowMs: number): Ask => {
    const store = new RedisStore(false, false, redis, prefix);
    return (subject) =>
      new Promise((resolve, reject) => {
        const told = (error: Error | null, result: { readonly current: number } | null): void => {
          if (result === null) reject(error ?? new ContenderError('no result'));
          else resolve(result.current <= limit);
        };
        store.incr(keys[subject] ?? '', told, windowMs, limit);
      });
  };
  const large = limited('frl-', LARGE_LIMIT, WINDOW_MS);
  return Promise.resolve({
    asks: { many: large, hot: () => large(0), exact: limited('frl-exact-', EXACT_LIMIT, DAY_MS) },
    close: () => Promise.resolve(redis.disconnect()),
  });
}
