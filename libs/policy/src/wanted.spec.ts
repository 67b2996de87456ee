import { redisKeys } from '@quotaplane/contracts';
import { ready, TEST_STORES, type TestClient, TestClock, type TestStore } from '@quotaplane/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Wanted } from './wanted';

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

  it('asks once a second for the same member', async () => {
    const clock = new TestClock();
    const wanted = new Wanted({ redis, monotonicNow: clock.now });
    wanted.want('tenant:hobby');
    await expect.poll(() => wanted.take(10)).toEqual(['tenant:hobby']);
    wanted.want('tenant:hobby');
    clock.advance(999);
    wanted.want('tenant:hobby');
    expect(await wanted.take(10)).toEqual([]);
    clock.advance(1);
    wanted.want('tenant:hobby');
    await expect.poll(() => wanted.take(10)).toEqual(['tenant:hobby']);
  });

  // Mutation: want.lua without SCARD.
  it('never holds more than its bound, whatever strangers ask for', async () => {
    const wanted = new Wanted({ redis, maxMembers: 10 });
    for (let index = 0; index < 50; index += 1) wanted.want(`tenant:made-up-${index}`);
    await expect.poll(() => redis.scard(redisKeys.wanted)).toBe(10);
    const taken = [...(await wanted.take(7)), ...(await wanted.take(7))];
    expect(new Set(taken).size).toBe(10);
  });

  it('takes nothing that is not a member of ours', async () => {
    await redis.sadd(redisKeys.wanted, 'tenant:hobby', 'tenant:NO', 'key:short', 'rm -rf', 'classes', 'lists');
    expect([...(await new Wanted({ redis }).take(10))].sort()).toEqual(['classes', 'lists', 'tenant:hobby']);
  });

  it('counts a store that is away and asks again at once when it is back', async () => {
    const road = await store.road();
    const gone = road.connect();
    const failures: string[] = [];
    const wanted = new Wanted({ redis: gone, onError: (_error, where) => failures.push(where) });
    wanted.want('tenant:hobby');
    await expect.poll(() => failures).toEqual(['wanted']);
    await ready(gone);
    wanted.want('tenant:hobby');
    await expect.poll(() => wanted.take(10)).toEqual(['tenant:hobby']);
    gone.disconnect();
    await road.stop();
  });
});
