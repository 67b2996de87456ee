import { Cluster, Redis } from 'ioredis';
import { FaultProxy, type Fault } from './fault-proxy';
import { startRedis } from './redis';
import { startTestRedisCluster } from './redis-cluster';

export type TestClient = Redis | Cluster;

/** A way to a store that misbehaves on command, on each of its servers alike. */
export interface TestRoad {
  /** A client whose every connection goes this way; it fails at once while it cannot answer. */
  connect(): TestClient;
  set(fault: Fault): void;
  resetConnections(): void;
  readonly openConnections: number;
  stop(): Promise<void>;
}

export interface TestStore {
  readonly isCluster: boolean;
  /** A client that goes straight to the store. */
  connect(user?: { username: string; password: string }): TestClient;
  /** Where it is, for `connectLimitRedis`; with a user when one is given. */
  url(user?: { username: string; password: string }): string;
  road(): Promise<TestRoad>;
  flush(): Promise<void>;
  flushScripts(): Promise<void>;
  /** Runs one command on every server, such as ACL SETUSER. @returns the reply of each */
  everywhere(command: string, ...args: string[]): Promise<unknown[]>;
  /** Comes back with nothing. */
  loseEverything(): Promise<void>;
  stop(): Promise<void>;
}

/** Both kinds of Redis that Quotaplane runs on, for a `describe.each`: what one does, the other has to do. */
export const TEST_STORES = [
  { name: 'a single Redis', start: startSingle },
  { name: 'a Redis Cluster', start: startCluster },
] as const;

const FAILS_AT_ONCE = { enableOfflineQueue: false, maxRetriesPerRequest: 0, retryStrategy: () => 20 } as const;

async function startSingle(): Promise<TestStore> {
  const server = await startRedis();
  const direct = quiet(new Redis(server.url, { retryStrategy: () => 20 }));
  return {
    isCluster: false,
    connect: (user) => quiet(new Redis(server.url, { retryStrategy: () => 20, ...user })),
    url: (user) => withUser(server.url, user),
    async road() {
      const proxy = await FaultProxy.start(server.url);
      return roadOver([proxy], () => quiet(new Redis(proxy.url, { ...FAILS_AT_ONCE, lazyConnect: true })));
    },
    async flush() {
      await direct.flushall();
    },
    async flushScripts() {
      await direct.script('FLUSH');
    },
    everywhere: (command, ...args) => Promise.all([direct.call(command, ...args)]),
    loseEverything: () => server.restart({ empty: true }),
    async stop() {
      direct.disconnect();
      await server.stop();
    },
  };
}

async function startCluster(): Promise<TestStore> {
  const cluster = await startTestRedisCluster();
  const startup = cluster.url.split(',');
  return {
    isCluster: true,
    connect: (user) => quiet(new Cluster(startup, { slotsRefreshInterval: 500, redisOptions: { ...user } })),
    url: (user) => startup.map((url) => withUser(url, user)).join(','),
    async road() {
      const proxies = await Promise.all(cluster.nodes.map((node) => FaultProxy.start(node.server.url)));
      const natMap = Object.fromEntries(cluster.nodes.map(({ server }, index) => [`127.0.0.1:${server.port}`, { host: '127.0.0.1', port: proxies[index]?.port ?? 0 }]));
      return roadOver(proxies, () => quiet(new Cluster(proxies.map(({ url }) => url), {
        natMap, enableOfflineQueue: false, lazyConnect: true, retryDelayOnFailover: 0, retryDelayOnClusterDown: 0, clusterRetryStrategy: () => 20,
        slotsRefreshTimeout: 300, slotsRefreshInterval: 500, redisOptions: { maxRetriesPerRequest: 0, connectTimeout: 500, disconnectTimeout: 50 },
      })));
    },
    flush: () => cluster.flush(),
    async flushScripts() {
      for (const node of cluster.nodes) await node.admin.script('FLUSH');
    },
    everywhere: (command, ...args) => Promise.all(cluster.nodes.map((node) => node.admin.call(command, ...args))),
    async loseEverything() {
      await Promise.all(cluster.nodes.map((node) => node.server.restart({ empty: true })));
      await cluster.untilWhole();
    },
    stop: () => cluster.close(),
  };
}

function roadOver(proxies: readonly FaultProxy[], connect: () => TestClient): TestRoad {
  return {
    connect,
    set: (fault) => proxies.forEach((proxy) => proxy.set(fault)),
    resetConnections: () => proxies.forEach((proxy) => proxy.resetConnections()),
    get openConnections() {
      return proxies.reduce((sum, proxy) => sum + proxy.openConnections, 0);
    },
    async stop() {
      await Promise.all(proxies.map((proxy) => proxy.stop()));
    },
  };
}

/** Waits until a client can be used. */
export async function ready<Client extends TestClient>(client: Client): Promise<Client> {
  if (client.status === 'wait') client.connect().catch(() => undefined);
  if (client.status !== 'ready') await new Promise<void>((resolve) => client.once('ready', () => resolve()));
  return client;
}

function withUser(url: string, user?: { username: string; password: string }): string {
  if (user === undefined) return url;
  const own = new URL(url);
  own.username = user.username;
  own.password = user.password;
  return own.href;
}

function quiet<Client extends TestClient>(client: Client): Client {
  client.on('error', () => undefined);
  return client;
}
