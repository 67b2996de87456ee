import { Cluster, Redis, type ClusterOptions, type RedisOptions } from 'ioredis';
import { PromptCluster } from './prompt-cluster';
import { parseRedisUrl, type ClusterAddress } from './redis-url';

/** What `connectLimitRedis` makes: both run the same commands, and both fail at once while they cannot. */
export type LimitRedis = Redis | Cluster;

const RETRY_FIRST_MS = 50;
const RETRY_MAX_MS = 500;
/** From the TCP connection to the first command; a store that accepts and stays silent is tried anew. */
const HANDSHAKE_MAX_MS = 1_000;
/** Age of the map of slots at most; each MOVED also renews it at once. */
const SLOTS_REFRESH_MS = 1_000;
/** A node that does not say the map within this time is passed over for the next one. */
const SLOTS_PATIENCE_MS = 500;
/** While a key is between two nodes; the store has done nothing with a call it answers so. */
const BETWEEN_NODES_MS = 5;

const backOff = (attempt: number): number => Math.min(RETRY_FIRST_MS * 2 ** (attempt - 1), RETRY_MAX_MS);

/** No offline queue, no resend, no waiting for retries: a command that cannot be answered now fails now. */
const NO_SECOND_TRY = { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0, enableAutoPipelining: false } as const;
// A dead peer answers no FIN: the socket is destroyed soon, and what waits on it learns of it.
const BOUNDED = { connectTimeout: HANDSHAKE_MAX_MS, disconnectTimeout: RETRY_FIRST_MS } as const;

/**
 * A client for `RedisLimitStore`: it fails at once while disconnected, never sends a command twice, and reconnects for ever.
 * On a cluster it follows MOVED, ASK and TRYAGAIN, for these answers say that nothing was done; a command whose node went away fails, and
 * one whose node is just being connected waits for that, a second at most.
 * @param url one `redis://` or `rediss://` URL; a comma-separated list of them, or one with `?cluster=true`, is a Redis Cluster
 * @param overrides further ioredis options, such as TLS, for each connection; they win
 * @throws {RedisUrlError} it is none of these
 */
export const connectLimitRedis = (url: string, overrides: RedisOptions = {}): LimitRedis => {
  const address = parseRedisUrl(url);
  const client = address.kind === 'cluster' ? connectCluster(address, overrides) : connectSingle(address.url, overrides);
  // Outages are answered as values by the store; without a listener ioredis prints each of them.
  client.on('error', () => undefined);
  return client;
};

const connectSingle = (url: string, overrides: RedisOptions): Redis => {
  const redis = new Redis(url, {
    ...NO_SECOND_TRY,
    ...BOUNDED,
    enableOfflineQueue: false,
    // ioredis forgets its attempts only once it is ready, so a store that hangs in the handshake is not stormed either.
    retryStrategy: backOff,
    // A replica that was the primary: the new one is behind the same name. 1 reconnects without sending the command again.
    reconnectOnError: (error) => (error.message.startsWith('READONLY') ? 1 : false),
    ...overrides,
  });
  boundHandshake(redis);
  return redis;
};

const connectCluster = ({ nodes, credentials }: ClusterAddress, overrides: RedisOptions): Cluster => {
  const cluster = new PromptCluster(nodes.map((node) => ({ ...node })), {
    enableAutoPipelining: false,
    clusterRetryStrategy: backOff,
    // 0 leaves a command that its node may have carried out, or that the whole cluster refuses, to its caller.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnTryAgain: BETWEEN_NODES_MS,
    slotsRefreshInterval: SLOTS_REFRESH_MS,
    slotsRefreshTimeout: SLOTS_PATIENCE_MS,
    // A node's name is resolved by its own connection, or a certificate made out to the name would not fit.
    dnsLookup: (name, found) => found(null, name),
    redisOptions: { ...NO_SECOND_TRY, ...BOUNDED, ...credentials, ...withoutQueue(overrides) },
    lazyConnect: true,
  });
  cluster.on('+node', (node: Redis) => {
    boundHandshake(node);
    // Replicas too: one that takes over is connected by then.
    node.connect().catch(() => undefined);
  });
  if (overrides.lazyConnect !== true) cluster.connect().catch(() => undefined);
  return cluster;
};

/** What a cluster decides for its nodes itself. */
const withoutQueue = ({ enableOfflineQueue, retryStrategy, readOnly, lazyConnect, ...rest }: RedisOptions): NonNullable<ClusterOptions['redisOptions']> => rest;

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
