import { createHash } from 'node:crypto';
import { Ratelimit } from '@upstash/ratelimit';
import { Redis } from 'ioredis';
import { EXACT_LIMIT, LARGE_LIMIT, SUBJECTS } from '../scenario';
import { ContenderError, keysOf, type Ask, type Contender } from './contender';

type UpstashRedis = ConstructorParameters<typeof Ratelimit>[0]['redis'];

/** @upstash/ratelimit's sliding window over ioredis instead of HTTP, which would be slower. */
export function upstash(redisUrl: string): Promise<Contender> {
  const redis = new Redis(redisUrl);
  const client = upstashRedisOn(redis);
  const keys = keysOf(SUBJECTS.many, 'subject');
  const limited = (prefix: string, limit: number, window: '60 s' | '1 d'): Ask => {
    const limiter = new Ratelimit({ redis: client, prefix, limiter: Ratelimit.slidingWindow(limit, window) });
    return async (subject) => {
      const { success, reason } = await limiter.limit(keys[subject] ?? '');
      if (reason === 'timeout') throw new ContenderError('a decision was a time-out');
      return success;
    };
  };
  const large = limited('up', LARGE_LIMIT, '60 s');
  return Promise.resolve({
    asks: { many: large, hot: () => large(0), exact: limited('up-exact', EXACT_LIMIT, '1 d') },
    close: () => Promise.resolve(redis.disconnect()),
  });
}

/** Upstash's client on ioredis. A cast, for its type has the whole fluent interface, of which the limiter calls these two. */
function upstashRedisOn(redis: Redis): UpstashRedis {
  const loaded = new Map<string, string>();
  const run = async (sha: string, keys: readonly string[], args: readonly unknown[]): Promise<unknown> => {
    const own = loaded.get(sha);
    if (own === undefined) throw new ContenderError('NOSCRIPT');
    return redis.evalsha(own, keys.length, ...keys, ...args.map(String));
  };
  const client = {
    evalsha: run,
    eval: async (script: string, keys: readonly string[], args: readonly unknown[]): Promise<unknown> => {
      const sha = createHash('sha1').update(script).digest('hex');
      // Its first line asks for a flag that only Upstash's own server knows.
      loaded.set(sha, String(await redis.script('LOAD', script.replace(/^#!lua.*\n/, ''))));
      return run(sha, keys, args);
    },
  };
  return client as unknown as UpstashRedis;
}
