import { redisKeys, type Segment } from '@quotaplane/contracts';
import { ready, TEST_STORES, type TestClient, type TestStore } from '@quotaplane/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { PolicyCache } from './policy-cache';
import { PolicyPublisher } from './policy-publisher';
import { specPolicy } from './spec-policies';

let store: TestStore;
let redis: TestClient;
let publisher: PolicyPublisher;
let cache: PolicyCache;

describe.each(TEST_STORES)('on $name', ({ start }) => {
  beforeAll(async () => {
    store = await start();
    redis = await ready(store.connect());
    publisher = new PolicyPublisher({ redis });
  }, 30_000);
  afterAll(async () => {
    redis.disconnect();
    await store.stop();
  });
  beforeEach(async () => {
    await store.flush();
    cache = new PolicyCache({ redis });
  });

  const answer = (revision: number, generation = 1, limit = 100) => ({ head: `${revision}.${generation}`, policy: JSON.stringify(specPolicy('hobby', revision, limit)), subjects: [] });
  const publish = (revision: number, generation = 1) => publisher.publishTenant({ policy: specPolicy('hobby', revision), generation, changeId: '' });

  describe('accept', () => {
    it('takes a stale answer and hands out the same object until the next', () => {
      expect(cache.get('hobby')).toBeUndefined();
      expect(cache.accept('hobby', answer(1))).toBe('accepted');
      expect(cache.get('hobby')).toMatchObject({ kind: 'policy', head: '1.1', isStale: false, policy: { revision: 1 } });
      expect(cache.get('hobby')).toBe(cache.get('hobby'));
    });

    // Mutation: accept without reaches().
    it('calls a head lost that is lower than one seen before, in revision or generation', () => {
      cache.accept('hobby', answer(5, 2));
      expect([cache.accept('hobby', answer(4, 2)), cache.accept('hobby', answer(6, 1))]).toEqual(['lost', 'lost']);
      expect(cache.get('hobby')).toMatchObject({ head: '5.2' });
      expect(cache.accept('hobby', answer(5, 3))).toBe('accepted');
    });

    it('calls a policy lost that is missing, damaged, of another tenant or of another revision than its head', () => {
      const broken = [null, '{', '{"v":2}', JSON.stringify(specPolicy('globex', 1)), JSON.stringify(specPolicy('hobby', 2))];
      expect(broken.map((policy) => cache.accept('hobby', { head: '1.1', policy }))).toEqual(broken.map(() => 'lost'));
      expect(cache.accept('hobby', { head: 'nonsense', policy: null })).toBe('lost');
      expect(cache.get('hobby')).toBeUndefined();
    });

    it('remembers unknown and deleted tenants as such, until a revision follows', () => {
      cache.accept('hobby', { head: 'unknown', policy: null });
      expect(cache.get('hobby')).toMatchObject({ kind: 'unknown', head: 'unknown' });
      cache.accept('hobby', answer(9));
      cache.accept('hobby', { head: 'deleted', policy: null });
      expect(cache.get('hobby')).toMatchObject({ kind: 'deleted' });
      expect(cache.accept('hobby', answer(1))).toBe('accepted');
    });
  });

  describe('drop', () => {
    it('marks the entry and keeps it as last known good until the named head is reached', () => {
      cache.accept('hobby', answer(1));
      cache.drop('hobby', '3.1');
      expect(cache.get('hobby')).toMatchObject({ head: '1.1', isStale: true });
      cache.accept('hobby', answer(2));
      expect(cache.get('hobby')).toMatchObject({ head: '2.1', isStale: true });
      cache.accept('hobby', answer(3));
      expect(cache.get('hobby')).toMatchObject({ head: '3.1', isStale: false });
    });

    it('leaves an entry alone that already holds the named head', () => {
      cache.accept('hobby', answer(3));
      cache.drop('hobby', '3.1');
      expect(cache.get('hobby')?.isStale).toBe(false);
      cache.drop('hobby', 'deleted');
      expect(cache.get('hobby')?.isStale).toBe(true);
    });

    it('marks everything after a gap, and any accepted answer clears that', () => {
      cache.accept('hobby', answer(3));
      cache.dropAll();
      expect(cache.get('hobby')?.isStale).toBe(true);
      cache.accept('hobby', answer(3));
      expect(cache.get('hobby')?.isStale).toBe(false);
    });
  });

  describe('load', () => {
    it('reads once for callers at the same time', async () => {
      await publish(1);
      const reads = vi.spyOn(redis, 'mget');
      const answers = await Promise.all(Array.from({ length: 20 }, () => cache.load('hobby')));
      expect(answers.every(({ status }) => status === 'loaded')).toBe(true);
      expect(reads).toHaveBeenCalledTimes(1);
      reads.mockRestore();
    });

    // Mutation: CoalescedLoads serves every waiter from the running read.
    it('serves only the waiters whose head the shared read reaches', async () => {
      await publish(1);
      const early = cache.load('hobby');
      // Published after the first read was sent, on the same connection: that read cannot hold it.
      const published = publish(2);
      const late = cache.load('hobby', '2.1');
      expect(await early).toMatchObject({ status: 'loaded' });
      await published;
      expect(await late).toMatchObject({ status: 'loaded', cached: { head: '2.1' } });
    });

    it('tells absent from lost from unavailable', async () => {
      expect(await cache.load('hobby')).toEqual({ status: 'absent' });
      await publish(1);
      expect(await cache.load('hobby', '2.1')).toEqual({ status: 'lost' });
      await redis.del(redisKeys.policy('hobby'));
      expect(await new PolicyCache({ redis }).load('hobby')).toEqual({ status: 'lost' });
      const road = await store.road();
      const gone = road.connect();
      const failures: string[] = [];
      expect(await new PolicyCache({ redis: gone, onError: (_error, where) => failures.push(where) }).load('hobby')).toEqual({ status: 'unavailable' });
      expect(failures).toEqual(['policy-load']);
      gone.disconnect();
      await road.stop();
    });

    it('is unavailable within about a second when the store hangs, and keeps the last known good', async () => {
      const proxy = await store.road();
      const through = await ready(proxy.connect());
      const own = new PolicyCache({ redis: through });
      await publish(1);
      await own.load('hobby');
      proxy.set({ kind: 'hang' });
      const startedAtMs = performance.now();
      expect(await own.load('hobby')).toEqual({ status: 'unavailable' });
      expect(performance.now() - startedAtMs).toBeLessThan(1_500);
      expect(own.get('hobby')).toMatchObject({ head: '1.1' });
      through.disconnect();
      await proxy.stop();
    });
  });

  it('keeps the tenants in use when it is full', () => {
    const small = new PolicyCache({ redis, maxTenants: 3 });
    const unknown = { head: 'unknown', policy: null };
    for (const tenant of ['a', 'b', 'c']) small.accept(tenant, unknown);
    small.get('a');
    small.accept('d', unknown);
    expect(['a', 'b', 'c', 'd'].map((tenant) => small.get(tenant) !== undefined)).toEqual([true, false, true, true]);
    expect(small.size).toBe(3);
  });

  // A segment shared by two tenants would mix up what the guard hangs on it: its journal cells, and with them the bill.
  it('keeps limits that tenants have in common once, but gives each tenant its own segments', () => {
    const segmentOf = (tenant: string, limit?: number): Segment | undefined => {
      cache.accept(tenant, { head: '1.1', policy: JSON.stringify(specPolicy(tenant, 1, limit)) });
      const cached = cache.get(tenant);
      return cached?.kind === 'policy' ? cached.policy.segments[0] : undefined;
    };
    const [hobby, acme] = [segmentOf('hobby'), segmentOf('acme')];
    expect(hobby).toEqual(acme);
    expect(hobby).not.toBe(acme);
    expect(hobby?.limits).toBe(acme?.limits);
    expect(segmentOf('globex', 5)?.limits[0]?.limit).toBe(5);
  });
});
