import { Redis } from 'ioredis';
import type { Ask, Contender } from './contender';

/** The least that a script call costs: EVALSHA of an empty script. */
export const emptyScript = (redisUrl: string): Promise<Contender> => script(redisUrl, false);
export const emptyScriptPipelined = (redisUrl: string): Promise<Contender> => script(redisUrl, true);

/** The least that any command costs. */
export function ping(redisUrl: string): Promise<Contender> {
  const redis = new Redis(redisUrl);
  return Promise.resolve(asking(redis, async () => (await redis.ping()) === 'PONG'));
}

async function script(redisUrl: string, enableAutoPipelining: boolean): Promise<Contender> {
  const redis = new Redis(redisUrl, { enableAutoPipelining });
  const sha = String(await redis.script('LOAD', 'return 0'));
  return asking(redis, async () => (await redis.evalsha(sha, 1, 'bare')) === 0);
}

const asking = (redis: Redis, ask: Ask): Contender => ({ asks: { many: ask, hot: ask }, close: () => Promise.resolve(redis.disconnect()) });
