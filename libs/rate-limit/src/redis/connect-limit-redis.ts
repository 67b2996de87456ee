import { Redis, type RedisOptions } from 'ioredis';

const RETRY_FIRST_MS = 50;
const RETRY_MAX_MS = 500;

/**
 * A client for `RedisLimitStore`: it fails at once while disconnected, never sends a command twice, and reconnects for ever.
 * @param overrides further ioredis options, such as TLS; they win
 */
export const connectLimitRedis = (url: string, overrides: RedisOptions = {}): Redis => {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    enableAutoPipelining: false,
    connectTimeout: 1_000,
    retryStrategy: (attempt) => Math.min(RETRY_FIRST_MS * 2 ** (attempt - 1), RETRY_MAX_MS),
    // A replica that was the primary: the new one is behind the same name. 1 reconnects without sending the command again.
    reconnectOnError: (error) => (error.message.startsWith('READONLY') ? 1 : false),
    ...overrides,
  });
  // Outages are answered as values by the store; without a listener ioredis prints each of them.
  redis.on('error', () => undefined);
  return redis;
};
