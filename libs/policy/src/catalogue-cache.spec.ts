import { redisKeys } from '@quotaplane/contracts';
import { ready, TEST_STORES, type TestClient, type TestRoad, type TestStore } from '@quotaplane/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CatalogueCache } from './catalogue-cache';
import { PolicyPublisher } from './policy-publisher';
import { specCatalogue, specLists, specPolicy } from './spec-policies';
import { Wanted } from './wanted';

let store: TestStore;
let direct: TestClient;
let publisher: PolicyPublisher;
let proxy: TestRoad;
let redis: TestClient;
let wanted: Wanted;
let catalogue: CatalogueCache;
const failures: string[] = [];

describe.each(TEST_STORES)('on $name', ({ start }) => {
  beforeAll(async () => {
    store = await start();
    direct = store.connect();
    publisher = new PolicyPublisher({ redis: direct });
  }, 30_000);
  afterAll(async () => {
    direct.disconnect();
    await store.stop();
  });
  beforeEach(async () => {
    await store.flush();
    failures.length = 0;
    proxy = await store.road();
    redis = await ready(proxy.connect());
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
    expect([catalogue.classes(), catalogue.fallback(), catalogue.lists()]).toEqual([undefined, undefined, undefined]);
    await expect.poll(async () => (await direct.smembers(redisKeys.wanted)).sort()).toEqual(['classes', 'fallback', 'lists']);
  });

  it('follows a change within 2 s without the feed', async () => {
    await publisher.publishClasses(specCatalogue(1));
    await publisher.publishFallback(specPolicy('anonymous', 1));
    await publisher.publishLists(specLists(1));
    await catalogue.start();
    // A server of the cluster whose connection is just being made answers the next second.
    await expect.poll(() => [catalogue.fallback()?.tenant, catalogue.lists()], { timeout: 3_000 }).toEqual(['anonymous', specLists(1)]);
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
    await store.flush();
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
});
