import { Redis } from 'ioredis';

/** Injection token of the process's one Redis connection for reads and health; jobs and feeds open their own. */
export const REDIS = Symbol('REDIS');

/** Commands fail at once while Redis is away: nothing in the control plane waits for it. */
export function connectRedis(url: string): Redis {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    commandTimeout: 1_000,
    retryStrategy: (attempt) => Math.min(attempt * 100, 1_000),
  });
  // Every failed attempt is reported by the command that needed it; without a listener ioredis logs each one.
  redis.on('error', () => undefined);
  return redis;
}
