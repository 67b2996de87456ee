import { redisKeys } from '@quotaplane/contracts';
import { startTestRedisCluster, type TestRedisCluster } from '@quotaplane/testing';
import { Cluster } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ChangeFeed } from './change-feed';
import { followChanges } from './follow-changes';
import { PolicyCache } from './policy-cache';
import { PolicyPublisher } from './policy-publisher';
import type { TenantPublished } from './publish-replies';
import { specPolicy } from './spec-policies';
import { PublishError } from './store-errors';

let cluster: TestRedisCluster;
let redis: Cluster;
let cache: PolicyCache;
let feed: ChangeFeed;
let revision = 0;

const connect = (): Cluster => {
  const client = new Cluster(cluster.nodes.map(({ server }) => server.url), {
    retryDelayOnFailover: 0, retryDelayOnClusterDown: 0, clusterRetryStrategy: () => 50, slotsRefreshInterval: 500, slotsRefreshTimeout: 300, redisOptions: { maxRetriesPerRequest: 0 },
  });
  client.on('error', () => undefined);
  return client;
};

beforeAll(async () => {
  cluster = await startTestRedisCluster({ replicas: 1 });
  redis = connect();
  cache = new PolicyCache({ redis });
  feed = new ChangeFeed({ connect, handler: followChanges({ policies: cache, keys: { drop: () => undefined, dropAll: () => undefined }, catalogue: { refresh: () => Promise.resolve() } }) });
  await feed.start();
}, 30_000);
afterAll(async () => {
  await feed.stop();
  redis.disconnect();
  await cluster.close();
});

const publish = (): Promise<TenantPublished> => new PolicyPublisher({ redis }).publishTenant({ policy: specPolicy('hobby', (revision += 1)), generation: 1, changeId: '' });

/** A change published now is read by the cache and heard from the feed. */
async function expectLive(): Promise<void> {
  const { position } = await publish();
  await expect.poll(() => feed.position, { timeout: 5_000 }).toBe(position);
  expect(await cache.load('hobby', `${revision}.1`)).toMatchObject({ status: 'loaded', cached: { head: `${revision}.1` } });
}

it('publishes and follows while the slot of the feed moves, and after', async () => {
  await expectLive();
  const target = await cluster.slots.begin(redisKeys.changes);
  await expectLive();
  await cluster.slots.finish(redisKeys.changes, target);
  await expectLive();
});

it('goes on reading a tenant while its slot moves, and publishes it at the latest when that is over', async () => {
  await expectLive();
  const target = await cluster.slots.begin(redisKeys.head('hobby'));
  expect(await cache.load('hobby', `${revision}.1`)).toMatchObject({ status: 'loaded' });
  // Redis refuses a script on several keys of which one is missing while their slot moves (TRYAGAIN); the worker tries again.
  await publish().catch((error: unknown) => expect(error).toBeInstanceOf(PublishError));
  await cluster.slots.finish(redisKeys.head('hobby'), target);
  await expectLive();
});

it.each([redisKeys.changes, redisKeys.head('hobby')])('publishes and follows again after the master of %s died', async (key) => {
  await expectLive();
  const dead = await cluster.killMasterOf(key);
  await cluster.untilWhole();
  // A publish that met the dead master rejects and is tried again, as the worker does.
  await expect.poll(() => publish().then(() => 'published', () => 'failed'), { timeout: 10_000 }).toBe('published');
  await expectLive();
  await dead.server.restart();
  await cluster.untilWhole();
}, 40_000);
