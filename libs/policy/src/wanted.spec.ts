import { once } from 'node:events';
import { redisKeys } from '@quotaplane/contracts';
import { startRedis, TestClock, type TestRedis } from '@quotaplane/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { Wanted } from './wanted';

let server: TestRedis;
let redis: Redis;

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});
beforeEach(() => redis.flushall());

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
  await redis.sadd(redisKeys.wanted, 'tenant:hobby', 'tenant:NO', 'key:short', 'rm -rf', 'classes');
  expect([...(await new Wanted({ redis }).take(10))].sort()).toEqual(['classes', 'tenant:hobby']);
});

it('counts a store that is away and asks again at once when it is back', async () => {
  const gone = new Redis(server.url, { enableOfflineQueue: false, lazyConnect: true });
  const failures: string[] = [];
  const wanted = new Wanted({ redis: gone, onError: (_error, where) => failures.push(where) });
  wanted.want('tenant:hobby');
  await expect.poll(() => failures).toEqual(['wanted']);
  await once(gone, 'ready');
  wanted.want('tenant:hobby');
  await expect.poll(() => wanted.take(10)).toEqual(['tenant:hobby']);
  gone.disconnect();
});
