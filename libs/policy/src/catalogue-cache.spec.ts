import { redisKeys } from '@quotaplane/contracts';
import { FaultProxy, startRedis, type TestRedis } from '@quotaplane/testing';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { CatalogueCache } from './catalogue-cache';
import { PolicyPublisher } from './policy-publisher';
import { specCatalogue, specPolicy } from './spec-policies';
import { Wanted } from './wanted';

let server: TestRedis;
let direct: Redis;
let publisher: PolicyPublisher;
let proxy: FaultProxy;
let redis: Redis;
let wanted: Wanted;
let catalogue: CatalogueCache;
const failures: string[] = [];

beforeAll(async () => {
  server = await startRedis();
  direct = new Redis(server.url);
  publisher = new PolicyPublisher({ redis: direct });
});
afterAll(async () => {
  direct.disconnect();
  await server.stop();
});
beforeEach(async () => {
  await direct.flushall();
  failures.length = 0;
  proxy = await FaultProxy.start(server.url);
  redis = new Redis(proxy.url, { enableOfflineQueue: false, lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => 20 });
  redis.on('error', () => undefined);
  await redis.connect();
  wanted = new Wanted({ redis });
  catalogue = new CatalogueCache({ redis, wanted, onError: (_error, where) => failures.push(where) });
});
afterEach(async () => {
  catalogue.stop();
  redis.disconnect();
  await proxy.stop();
});

it('asks the worker for documents that are absent or damaged', async () => {
  await direct.set(redisKeys.fallback, '{}');
  await catalogue.start();
  expect([catalogue.classes(), catalogue.fallback()]).toEqual([undefined, undefined]);
  await expect.poll(async () => [...(await wanted.take(10))].sort()).toEqual(['classes', 'fallback']);
});

it('follows a change within 2 s without the feed', async () => {
  await publisher.publishClasses(specCatalogue(1));
  await publisher.publishFallback(specPolicy('anonymous', 1));
  await catalogue.start();
  expect(catalogue.fallback()).toMatchObject({ tenant: 'anonymous' });
  await publisher.publishClasses(specCatalogue(2, 10));
  const startedAtMs = performance.now();
  await expect.poll(() => catalogue.classes()?.classes['search']?.cost, { timeout: 3_000 }).toBe(10);
  expect(performance.now() - startedAtMs).toBeLessThan(2_000);
});

it('sends nothing that the node already has, and sees a change of the same length and revision', async () => {
  await publisher.publishClasses(specCatalogue(1, 1));
  await catalogue.refresh();
  const before = catalogue.classes();
  await catalogue.refresh();
  expect(catalogue.classes()).toBe(before);
  await publisher.publishClasses(specCatalogue(1, 2));
  await catalogue.refresh();
  expect(catalogue.classes()?.classes['search']?.cost).toBe(2);
});

it('keeps the last good documents while the store is away, lost or damaged', async () => {
  await publisher.publishClasses(specCatalogue(1));
  await catalogue.refresh();
  await direct.set(redisKeys.classes, 'damage');
  await catalogue.refresh();
  await direct.flushall();
  await catalogue.refresh();
  proxy.set({ kind: 'reset' });
  await catalogue.refresh();
  expect(catalogue.classes()).toEqual(specCatalogue(1));
  expect(failures).toContain('catalogue');
});

it('starts without the store within 2 s and finds the documents when it comes', async () => {
  await publisher.publishClasses(specCatalogue(1));
  proxy.set({ kind: 'hang' });
  const startedAtMs = performance.now();
  await catalogue.start();
  expect(performance.now() - startedAtMs).toBeLessThan(2_500);
  proxy.set({ kind: 'none' });
  proxy.resetConnections();
  await expect.poll(() => catalogue.classes(), { timeout: 3_000 }).toBeDefined();
});
