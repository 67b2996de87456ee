import { ThrottlerStorageRedisService } from '@nest-lab/throttler-storage-redis';
import { Redis } from 'ioredis';
import { DAY_MS, EXACT_LIMIT, LARGE_LIMIT, SUBJECTS, WINDOW_MS } from '../scenario';
import { keysOf, type Contender } from './contender';

const SCOPES = ['tenant', 'user', 'key', 'class'] as const;

/** Redis storage of @nestjs/throttler, called as its guard calls it: named throttlers one after another. */
export function throttler(redisUrl: string): Promise<Contender> {
  const redis = new Redis(redisUrl);
  const storage = new ThrottlerStorageRedisService(redis);
  const keys = keysOf(SUBJECTS.many, 'subject');
  const isAdmitted = async (subject: number, limit: number, windowMs: number, name: string): Promise<boolean> =>
    !(await storage.increment(keys[subject] ?? '', windowMs, limit, windowMs, name)).isBlocked;
  return Promise.resolve({
    asks: {
      many: (subject) => isAdmitted(subject, LARGE_LIMIT, WINDOW_MS, 'default'),
      hot: () => isAdmitted(0, LARGE_LIMIT, WINDOW_MS, 'hot'),
      four: async (subject) => {
        for (const scope of SCOPES) if (!(await isAdmitted(subject, LARGE_LIMIT, WINDOW_MS, scope))) return false;
        return true;
      },
      exact: (subject) => isAdmitted(subject, EXACT_LIMIT, DAY_MS, 'exact'),
    },
    close: () => Promise.resolve(redis.disconnect()),
  });
}
