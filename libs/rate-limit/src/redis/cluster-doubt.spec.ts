import { redisKeys } from '@quotaplane/contracts';
import { startTestRedisCluster, type TestRedisCluster } from '@quotaplane/testing';
import { Cluster, Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { checkOf, connected, inGoodTime } from '../rig/connected';
import { bucketOf, quotaOf } from '../rig/rates';
import type { Charge, RateCharge, Verdict } from '../store';
import { ClusterLimitStore } from './cluster-limit-store';
import { connectLimitRedis } from './connect-limit-redis';

type Node = TestRedisCluster['nodes'][number];
const ALL: RateCharge = { ...bucketOf('all', 100, 86_400_000), counter: 'qp:{global}:c:all', cost: 3 };
const OWN = { ...quotaOf(100), cost: 3 };

describe('doubt in parts of other servers', () => {
  let cluster: TestRedisCluster;
  let redis: Cluster;
  let store: ClusterLimitStore;
  let global: Node;
  let own: Node;
  let admin: Redis;
  let doubts: number;

  beforeAll(async () => {
    cluster = await startTestRedisCluster();
    [global, own] = [await cluster.masterOf(ALL.counter), await cluster.masterOf(OWN.counter)];
    expect(global).not.toBe(own);
    admin = new Redis(global.server.url);
  });

  afterAll(async () => {
    admin.disconnect();
    await cluster.close();
  });

  beforeEach(async () => {
    await cluster.flush();
    const client = await connected(connectLimitRedis(cluster.url));
    if (!(client instanceof Cluster)) throw new TypeError('not a cluster client');
    redis = client;
    await redis.set(redisKeys.head('t'), '7.1');
    store = new ClusterLimitStore({ redis });
    doubts = 0;
    // The scripts and the connections are there.
    await store.peek(checkOf([ALL, OWN]), inGoodTime());
  });

  afterEach(async () => {
    for (const { server } of cluster.nodes) server.resume();
    await store.close();
    redis.disconnect();
  });

  const ask = (charges: readonly Charge[], forMs = 400): Promise<Verdict> =>
    store.judgeAndSpend(checkOf(charges, { onDoubt: () => (doubts += 1) }), performance.now() + forMs);
  const cut = ({ server }: Node): void => redis.nodes('all').find(({ options }) => options.port === server.port)?.disconnect(true);
  const untilGlobalSpent = (): Promise<void> => vi.waitFor(async () => expect(await admin.exists(ALL.counter)).toBe(1), { timeout: 2_000, interval: 1 });

  // Mutation: give back what was spent on the global limit without looking at the answer.
  it('tells of a part that was spent, when its roll-back is not taken', { timeout: 20_000 }, async () => {
    own.server.pause();
    const asked = ask([ALL, OWN]);
    await untilGlobalSpent();
    global.server.pause();
    expect(await asked).toMatchObject({ status: 'unavailable', cause: 'deadline' });
    // The tenant's own part is answered late and goes back; the global one hears of nothing.
    own.server.resume();
    await vi.waitFor(() => expect(doubts).toBe(1), { timeout: 5_000 });
    global.server.resume();
    await store.close();
    expect(doubts).toBe(1);
  });

  // Mutation: tell it for each part.
  it('tells once of a check of which two parts are in doubt', { timeout: 20_000 }, async () => {
    own.server.pause();
    const asked = ask([ALL, OWN], 5_000);
    await untilGlobalSpent();
    global.server.pause();
    cut(own);
    expect(await asked).toMatchObject({ status: 'unavailable', cause: 'disconnected' });
    await vi.waitFor(() => expect(doubts).toBe(1), { timeout: 5_000 });
    await store.close();
    expect(doubts).toBe(1);
  });

  // Mutation: doubt every roll-back; or a part that was never asked.
  it('tells nothing where a part was rolled back, and nothing of a part that was not asked', async () => {
    await ask([{ ...OWN, cost: 100 }], 5_000);
    expect((await ask([ALL, OWN], 5_000)).status).toBe('denied');
    await vi.waitFor(async () => expect(await admin.exists(ALL.counter)).toBe(0));
    expect((await ask([{ ...ALL, cost: 101 }, OWN], 5_000)).status).toBe('denied');
    await store.close();
    expect(doubts).toBe(0);
  });

  // Mutation: leave the doubt of a lane to the stores of one server.
  it('tells of a check of one part whose connection is cut', async () => {
    own.server.pause();
    const asked = ask([OWN], 5_000);
    await new Promise(setImmediate);
    cut(own);
    expect((await asked).status).toBe('unavailable');
    await vi.waitFor(() => expect(doubts).toBe(1));
  });
});
