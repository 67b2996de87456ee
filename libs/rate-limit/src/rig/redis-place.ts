import { Redis } from 'ioredis';
import { connectLimitRedis, type LimitRedis } from '../redis/connect-limit-redis';
import { createLimitStore } from '../redis/create-limit-store';
import type { LimitStoreOptions } from '../redis/store-options';
import type { LimitStore } from '../store';
import { connected } from './connected';

/** Where the suites of the engine run: the same guarantees on both. For specs. */
export const REDIS_PLACES = ['one Redis', 'a Redis Cluster'] as const;

export interface RedisPlace {
  /** As many as were asked for, connected. */
  readonly clients: readonly LimitRedis[];
  readonly redis: LimitRedis;
  /** URL of each server. */
  readonly urls: readonly string[];
  storeOf(options?: LimitStoreOptions, client?: number): LimitStore;
  /** Names of all keys that match, over all servers. */
  keys(pattern: string): Promise<string[]>;
  /** Empties every server. */
  flush(): Promise<void>;
  /** Takes the scripts from every server. */
  flushScripts(): Promise<void>;
  /** Ends every server and starts it again with its data. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

interface OneServer {
  readonly url: string;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

interface ClusterServers {
  readonly url: string;
  readonly nodes: readonly { readonly server: OneServer }[];
  untilWhole(): Promise<void>;
  close(): Promise<void>;
}

/** `@quotaplane/testing`, which only specs may import. */
interface Starters {
  startRedis(): Promise<OneServer>;
  startTestRedisCluster(): Promise<ClusterServers>;
}

export const startRedisPlace = async (kind: (typeof REDIS_PLACES)[number], { startRedis, startTestRedisCluster }: Starters, clientCount = 1): Promise<RedisPlace> => {
  const server = kind === 'one Redis' ? await startRedis() : await startTestRedisCluster();
  const clients = await Promise.all(Array.from({ length: clientCount }, () => connected(connectLimitRedis(server.url))));
  const [redis] = clients;
  if (redis === undefined) throw new RangeError('a place needs a client');
  const urls = server.url.split(',');
  const admins = urls.map((url) => new Redis(url));
  const each = async (run: (admin: Redis) => Promise<unknown>): Promise<void> => void (await Promise.all(admins.map(run)));
  return {
    clients, redis, urls,
    storeOf: (options = {}, client = 0) => createLimitStore(clients[client] ?? redis, options),
    keys: async (pattern) => (await Promise.all(admins.map((admin) => admin.keys(pattern)))).flat(),
    flush: () => each((admin) => admin.flushall()),
    flushScripts: () => each((admin) => admin.script('FLUSH')),
    async restart() {
      await ('stop' in server ? server.restart() : Promise.all(server.nodes.map((node) => node.server.restart())));
      if (!('stop' in server)) await server.untilWhole();
    },
    async close() {
      for (const client of [...clients, ...admins]) client.disconnect();
      await ('stop' in server ? server.stop() : server.close());
    },
  };
};
