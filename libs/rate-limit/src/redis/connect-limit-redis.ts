import { Redis, type RedisOptions } from 'ioredis';

const RETRY_FIRST_MS = 50;
const RETRY_MAX_MS = 500;
/** From the TCP connection to the first command; a store that accepts and stays silent is tried anew. */
const HANDSHAKE_MAX_MS = 1_000;

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
    connectTimeout: HANDSHAKE_MAX_MS,
    // A dead peer answers no FIN: the socket is destroyed soon, and what waits on it learns of it.
    disconnectTimeout: RETRY_FIRST_MS,
    // ioredis forgets its attempts only once it is ready, so a store that hangs in the handshake is not stormed either.
    retryStrategy: (attempt) => Math.min(RETRY_FIRST_MS * 2 ** (attempt - 1), RETRY_MAX_MS),
    // A replica that was the primary: the new one is behind the same name. 1 reconnects without sending the command again.
    reconnectOnError: (error) => (error.message.startsWith('READONLY') ? 1 : false),
    ...overrides,
  });
  // Outages are answered as values by the store; without a listener ioredis prints each of them.
  redis.on('error', () => undefined);
  boundHandshake(redis);
  return redis;
};

const boundHandshake = (redis: Redis): void => {
  let timer: NodeJS.Timeout | undefined;
  redis.on('connect', () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (redis.status === 'connect') redis.disconnect(true);
    }, HANDSHAKE_MAX_MS);
  });
  for (const event of ['ready', 'close', 'end']) redis.on(event, () => clearTimeout(timer));
};
