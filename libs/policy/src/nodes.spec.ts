import { heartbeatSchema, redisKeys, type Heartbeat as HeartbeatWord } from '@quotaplane/contracts';
import { ready, TEST_STORES, type TestClient, type TestStore } from '@quotaplane/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Heartbeat, type NodeIdentity } from './heartbeat';
import { NodeDirectory } from './node-directory';
import { forgetDeadNodes, liveNodes, readNodes, readStoreTime } from './nodes';
import { receiptsOf } from './receipts';
import { StoreClock } from './store-clock';

let store: TestStore;
let redis: TestClient;

describe.each(TEST_STORES)('on $name', ({ start }) => {
  beforeAll(async () => {
    store = await start();
    redis = store.connect();
  }, 30_000);
  afterAll(async () => {
    redis.disconnect();
    await store.stop();
  });
  beforeEach(() => store.flush());

  const identity = (incarnation: string): NodeIdentity => ({ incarnation, service: 'echo', kind: 'service', version: '0.1.0', host: 'here', pid: 1, startedAtMs: 1 });
  const word = (incarnation: string, more: Partial<HeartbeatWord> = {}): HeartbeatWord =>
    ({ ...identity(incarnation), seenAtMs: 10_000, position: '5-0', appliedAtMs: 9_000, mode: 'healthy', ...more });
  const beating = (incarnation: string, position: () => string = () => '1-0', over: TestClient = redis): Heartbeat =>
    new Heartbeat({ redis: over, node: identity(incarnation), clock: new StoreClock(), position, mode: () => 'healthy' });

  describe('Heartbeat', () => {
    it('writes a word in store time and keeps the time of application while the position stands', async () => {
      let position = '1-0';
      const clock = new StoreClock();
      const heartbeat = new Heartbeat({ redis, node: identity('a'), clock, position: () => position, mode: () => 'degraded' });
      const startMs = await readStoreTime(redis);
      await heartbeat.beat();
      const first = heartbeatSchema.parse(JSON.parse((await redis.hget(redisKeys.nodes, 'a')) ?? ''));
      expect(first).toMatchObject({ position: '1-0', mode: 'degraded' });
      expect(first.seenAtMs).toBeGreaterThanOrEqual(startMs);
      expect(first.appliedAtMs).toBe(first.seenAtMs);
      await expect.poll(() => readStoreTime(redis)).toBeGreaterThan(first.seenAtMs);
      await heartbeat.beat();
      const second = (await readNodes(redis)).nodes[0];
      expect(second?.appliedAtMs).toBe(first.appliedAtMs);
      expect(second?.seenAtMs).toBeGreaterThan(first.seenAtMs);
      position = '2-0';
      await heartbeat.beat();
      expect((await readNodes(redis)).nodes[0]?.appliedAtMs).toBeGreaterThan(first.appliedAtMs);
      expect(Math.abs(clock.now() - (await readStoreTime(redis)))).toBeLessThan(100);
    });

    it('speaks each second until it is stopped, then leaves the list for good', async () => {
      const heartbeat = beating('a');
      await heartbeat.start();
      const first = (await readNodes(redis)).nodes[0]?.seenAtMs ?? 0;
      await expect.poll(async () => (await readNodes(redis)).nodes[0]?.seenAtMs, { timeout: 2_500 }).toBeGreaterThan(first + 900);
      await heartbeat.stop();
      await heartbeat.beat();
      expect((await readNodes(redis)).nodes).toEqual([]);
    });

    it('survives a store that is away, counted', async () => {
      const road = await store.road();
      const gone = road.connect();
      const failures: string[] = [];
      const heartbeat = new Heartbeat({ redis: gone, node: identity('a'), clock: new StoreClock(), position: () => '1-0', mode: () => 'healthy', onError: (_error, where) => failures.push(where) });
      gone.disconnect();
      await heartbeat.beat();
      await heartbeat.stop();
      expect(failures).toEqual(['heartbeat', 'heartbeat']);
      await road.stop();
    });
  });

  describe('liveNodes and receiptsOf', () => {
    it('counts nodes heard within 5 s, sorted', () => {
      const nodes = [word('b'), word('a', { seenAtMs: 10_500 }), word('c', { seenAtMs: 9_999 })];
      expect(liveNodes(nodes, 15_000).map(({ incarnation }) => incarnation)).toEqual(['a', 'b']);
    });

    // Mutation: compareStreamIds by text.
    it('compares positions by number and names who lags', () => {
      const nodes = [word('a', { position: '10-0', appliedAtMs: 9_100 }), word('b', { position: '9-5', appliedAtMs: 9_300 }), word('c', { position: '9-10', appliedAtMs: 9_200 })];
      expect(receiptsOf(nodes, '9-10', 10_000)).toEqual({ live: 2, total: 3, lagging: ['b'], appliedAtMs: 9_200 });
    });

    it('leaves out the platform\'s own nodes and dead ones', () => {
      const nodes = [word('a', { kind: 'platform' }), word('b', { seenAtMs: 1 })];
      expect(receiptsOf(nodes, '1-0', 10_000)).toEqual({ live: 0, total: 0, lagging: [], appliedAtMs: null });
    });

    it('reads what is no word of ours as nobody', async () => {
      await redis.hset(redisKeys.nodes, 'x', '{"incarnation":1}', 'y', 'nonsense');
      expect((await readNodes(redis)).nodes).toEqual([]);
    });

    it('forgets nodes silent for an hour and no others', async () => {
      const nowMs = await readStoreTime(redis);
      await redis.hset(redisKeys.nodes, 'old', JSON.stringify(word('old', { seenAtMs: nowMs - 3_700_000 })), 'new', JSON.stringify(word('new', { seenAtMs: nowMs - 60_000 })));
      expect(await forgetDeadNodes(redis)).toBe(1);
      expect((await readNodes(redis)).nodes.map(({ incarnation }) => incarnation)).toEqual(['new']);
    });
  });

  describe('NodeDirectory', () => {
    const directory = (over: TestClient = redis): NodeDirectory => new NodeDirectory({ redis: over, kind: 'service', expectedNodes: 4 });

    it('divides by the expected number until the store was seen', () => {
      expect([directory().shareOf(10, 'a'), directory().shareOf(3, 'a')]).toEqual([2, 0]);
    });

    it('gives the remainder to the first of the sorted list, so that the shares add up to the limit', async () => {
      for (const incarnation of ['c', 'a', 'b']) await beating(incarnation).beat();
      const nodes = directory();
      await nodes.refresh();
      expect(nodes.incarnations).toEqual(['a', 'b', 'c']);
      expect(['a', 'b', 'c'].map((incarnation) => nodes.shareOf(11, incarnation))).toEqual([4, 4, 3]);
      expect(['a', 'b', 'c'].map((incarnation) => nodes.shareOf(0, incarnation))).toEqual([0, 0, 0]);
      expect(nodes.shareOf(11, 'newcomer')).toBe(2);
    });

    it('keeps the list while the store is away and when it comes back empty', async () => {
      const proxy = await store.road();
      const through = await ready(proxy.connect());
      for (const incarnation of ['a', 'b']) await beating(incarnation).beat();
      const nodes = directory(through);
      await nodes.refresh();
      proxy.set({ kind: 'reset' });
      for (let reading = 0; reading < 10; reading += 1) await nodes.refresh();
      expect(nodes.incarnations).toEqual(['a', 'b']);
      proxy.set({ kind: 'none' });
      await store.flush();
      await beating('a').beat();
      await ready(through);
      await nodes.refresh();
      expect(nodes.incarnations).toEqual(['a', 'b']);
      for (let reading = 0; reading < 5; reading += 1) await nodes.refresh();
      expect(nodes.incarnations).toEqual(['a']);
      through.disconnect();
      await proxy.stop();
    });
  });
});
