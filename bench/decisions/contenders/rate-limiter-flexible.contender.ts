import { Redis } from 'ioredis';
import { RateLimiterRedis, RateLimiterRes, RateLimiterUnion } from 'rate-limiter-flexible';
import { DAY_MS, EXACT_LIMIT, LARGE_LIMIT, SUBJECTS, WINDOW_MS } from '../scenario';
import { keysOf, type Ask, type Contender } from './contender';

const SECOND_MS = 1_000;

/** The base of all ratios: RateLimiterRedis on ioredis as its documentation shows it. */
export function rateLimiterFlexible(redisUrl: string): Promise<Contender> {
  const storeClient = new Redis(redisUrl, { enableOfflineQueue: true });
  const of = (keyPrefix: string, points: number, windowMs: number): RateLimiterRedis =>
    new RateLimiterRedis({ storeClient, keyPrefix, points, duration: windowMs / SECOND_MS });
  const keys = keysOf(SUBJECTS.many, 'subject');
  const large = of('rlf', LARGE_LIMIT, WINDOW_MS);
  const exact = of('rlf-exact', EXACT_LIMIT, DAY_MS);
  const union = new RateLimiterUnion(...['tenant', 'user', 'key', 'class'].map((scope) => of(`rlf-${scope}`, LARGE_LIMIT, WINDOW_MS)));
  // Denials are remembered in the process from the first one on.
  const blocking = new RateLimiterRedis({ storeClient, keyPrefix: 'rlf-denied', points: 1, duration: DAY_MS / SECOND_MS, inMemoryBlockOnConsumed: 1 });
  const keyOf = (subject: number): string => keys[subject] ?? `subject-${subject}`;
  const asked = (consume: (key: string) => Promise<unknown>): Ask => async (subject) => {
    try {
      await consume(keyOf(subject));
      return true;
    } catch (denial) {
      if (denial instanceof RateLimiterRes) return false;
      throw denial;
    }
  };
  const one = asked((key) => large.consume(key));
  return Promise.resolve({
    asks: {
      many: one,
      users: one,
      hot: () => one(0),
      four: asked((key) => union.consume(key)),
      denied: asked((key) => blocking.consume(key)),
      exact: asked((key) => exact.consume(key)),
    },
    close: () => Promise.resolve(storeClient.disconnect()),
  });
}
