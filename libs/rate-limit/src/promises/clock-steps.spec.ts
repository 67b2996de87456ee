import * as testing from '@quotaplane/testing';
import { TestClock } from '@quotaplane/testing';
import { redisKeys } from '@quotaplane/contracts';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RedisLimitStore } from '../redis/redis-limit-store';
import { checkOf, countOf, inGoodTime } from '../rig/connected';
import { startRedisPlace, type RedisPlace } from '../rig/redis-place';
import { KINDS, namedRateOf } from '../rig/rates';
import type { Verdict } from '../store';

const LIMIT = 10;
const WINDOW_MS = 60_000;
const STEPS_MS = [1, 500, 59_999, 60_000, 600_000];

describe('P05 the store\'s clock steps back', () => {
  let place: RedisPlace;
  beforeAll(async () => {
    place = await startRedisPlace('one Redis', testing);
    await place.redis.set(redisKeys.head('t'), '7.1');
  });
  afterAll(() => place?.close());

  // Mutation: count entries and windows ahead of the clock as expired; or keep their time as it is.
  it.each(KINDS.flatMap((kind) => STEPS_MS.map((stepMs): [(typeof KINDS)[number], number] => [kind, stepMs])))(
    '%s by %i ms: nobody gets in twice, and nobody is locked out for longer than its window', async (kind, stepMs) => {
      // The middle of a window of the epoch, so that a small step stays in it.
      const clock = new TestClock(Date.UTC(2026, 0, 15, 7) + WINDOW_MS / 2);
      const store = new RedisLimitStore({ redis: place.redis as Redis, testClock: clock.now });
      const charge = namedRateOf(kind, `step:${kind}:${stepMs}`, LIMIT, WINDOW_MS);
      const ask = (times: number): Promise<Verdict[]> => Promise.all(Array.from({ length: times }, () => store.judgeAndSpend(checkOf([charge]), inGoodTime())));
      expect(countOf(await ask(LIMIT + 5), 'allowed')).toBe(LIMIT);
      clock.advance(-stepMs);
      expect(countOf(await ask(LIMIT), 'allowed')).toBe(0);
      // A sliding counter still weighs the window before: it has forgotten after two.
      clock.advance(kind === 'counter' ? 2 * WINDOW_MS : WINDOW_MS);
      expect(countOf(await ask(LIMIT + 5), 'allowed')).toBe(LIMIT);
    });
});
