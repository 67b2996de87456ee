import { randomUUID } from 'node:crypto';
import { ready, TEST_STORES, type TestClient, type TestRoad, type TestStore } from '@quotaplane/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ChangeFeed } from './change-feed';
import { followChanges } from './follow-changes';
import { Heartbeat } from './heartbeat';
import { readNodes, readStoreTime } from './nodes';
import { PolicyCache } from './policy-cache';
import { PolicyPublisher } from './policy-publisher';
import { receiptsOf, type Receipts } from './receipts';
import { specPolicy } from './spec-policies';
import { StoreClock } from './store-clock';

interface SpecNode {
  readonly incarnation: string;
  readonly cache: PolicyCache;
  readonly clock: StoreClock;
  stop(): Promise<void>;
}

let store: TestStore;
let road: TestRoad;
let redis: TestClient;
let publisher: PolicyPublisher;
let nodes: SpecNode[];

describe.each(TEST_STORES)('on $name', ({ start }) => {
  beforeAll(async () => {
    store = await start();
  }, 30_000);
  afterAll(() => store.stop());
  beforeEach(async () => {
    await store.flush();
    road = await store.road();
    redis = await ready(store.connect());
    publisher = new PolicyPublisher({ redis });
    nodes = [];
  });
  afterEach(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    redis.disconnect();
    await road.stop();
  });

  async function startNode(over = road): Promise<SpecNode> {
    const own = await ready(over.connect());
    const [incarnation, clock, cache] = [randomUUID(), new StoreClock(), new PolicyCache({ redis: own })];
    const feed: ChangeFeed = new ChangeFeed({
      connect: () => over.connect(),
      handler: followChanges({
        policies: cache, keys: { drop: () => undefined, dropAll: () => undefined }, catalogue: { refresh: () => Promise.resolve() },
        applied: () => void heartbeat.beat(),
      }),
    });
    const heartbeat = new Heartbeat({
      redis: own, clock, position: () => feed.position, mode: () => 'healthy',
      node: { incarnation, service: 'echo', kind: 'service', version: '0.1.0', host: 'here', pid: 1, startedAtMs: 1 },
    });
    await feed.start();
    await heartbeat.start();
    const node = {
      incarnation, cache, clock,
      stop: async () => {
        await Promise.all([feed.stop(), heartbeat.stop()]);
        own.disconnect();
      },
    };
    nodes.push(node);
    return node;
  }

  const publish = (revision: number, generation = 1) => publisher.publishTenant({ policy: specPolicy('hobby', revision), generation, changeId: '' });
  async function receipts(position: string): Promise<Receipts> {
    const { nodes: words, nowMs } = await readNodes(redis);
    return receiptsOf(words, position, nowMs);
  }

  // Measured again where other specs had the processors.
  it('receives a change from every node within 300 ms of store time', { retry: 2 }, async () => {
    await Promise.all([1, 2, 3].map(() => startNode()));
    const publishedAtMs = await readStoreTime(redis);
    const { position } = await publish(1);
    await expect.poll(() => receipts(position), { interval: 10 }).toMatchObject({ live: 3, total: 3, lagging: [] });
    expect(((await receipts(position)).appliedAtMs ?? Infinity) - publishedAtMs).toBeLessThan(300);
  });

  it('names the node whose feed is cut, and has its receipt after it rejoins', async () => {
    const proxy = await store.road();
    await startNode();
    const apart = await startNode(proxy);
    proxy.set({ kind: 'reset' });
    const { position } = await publish(2);
    await expect.poll(() => receipts(position)).toMatchObject({ live: 1, total: 2, lagging: [apart.incarnation] });
    proxy.set({ kind: 'none' });
    await expect.poll(() => receipts(position), { timeout: 2_000 }).toMatchObject({ live: 2, lagging: [] });
    await apart.stop();
    expect(await receipts(position)).toMatchObject({ live: 1, total: 1 });
    await proxy.stop();
  });

  it('follows again by itself when the store comes back empty, and takes the next generation only', async () => {
    const node = await startNode();
    await publish(3);
    await expect.poll(() => node.cache.load('hobby')).toMatchObject({ status: 'loaded' });
    await store.loseEverything();
    expect(node.cache.get('hobby')).toMatchObject({ head: '3.1' });
    await expect.poll(() => node.cache.get('hobby')?.isStale, { timeout: 3_000 }).toBe(true);
    await expect.poll(() => node.cache.load('hobby'), { timeout: 3_000 }).toEqual({ status: 'absent' });
    const { position } = await publish(3, 2);
    expect(await node.cache.load('hobby', '3.2')).toMatchObject({ status: 'loaded', cached: { head: '3.2', isStale: false } });
    await expect.poll(() => receipts(position), { timeout: 2_000 }).toMatchObject({ live: 1, total: 1 });
  });

  it('takes old data that came back for a loss, and keeps what it knows', async () => {
    const node = await startNode();
    await publish(5, 3);
    await node.cache.load('hobby');
    await store.flush();
    await publish(4, 2);
    await expect.poll(() => node.cache.get('hobby')?.isStale).toBe(true);
    expect(await node.cache.load('hobby')).toEqual({ status: 'lost' });
    expect(node.cache.get('hobby')).toMatchObject({ head: '5.3' });
    expect(Math.abs(node.clock.now() - (await readStoreTime(redis)))).toBeLessThan(100);
  });
});
