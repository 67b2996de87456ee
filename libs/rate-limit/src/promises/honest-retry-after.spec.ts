import * as testing from '@quotaplane/testing';
import { figure, SEED, TestClock } from '@quotaplane/testing';
import { redisKeys } from '@quotaplane/contracts';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RedisLimitStore } from '../redis/redis-limit-store';
import { checkOf, inGoodTime } from '../rig/connected';
import { startRedisPlace, type RedisPlace } from '../rig/redis-place';
import { KINDS, namedRateOf } from '../rig/rates';
import type { Verdict } from '../store';
import type { Redis } from 'ioredis';

const DENIALS = figure(3000, 100_000);
const WINDOWS_MS = [1, 7, 999, 1500, 60_000, 86_400_000];

describe('P03 a lone client that waits as told', () => {
  let place: RedisPlace;
  const clock = new TestClock(Date.UTC(2026, 0, 15, 7));
  beforeAll(async () => {
    place = await startRedisPlace('one Redis', testing);
    await place.redis.set(redisKeys.head('t'), '7.1');
  });
  afterAll(() => place?.close());

  const client = fc.record({ kind: fc.constantFrom(...KINDS), limit: fc.integer({ min: 1, max: 40 }), windowMs: fc.constantFrom(...WINDOWS_MS), costs: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 4, maxLength: 12 }), pauses: fc.array(fc.integer({ min: 0, max: 2000 }), { minLength: 4, maxLength: 12 }) });
  const waitOf = (verdict: Verdict): number => ('states' in verdict ? (verdict.states[0]?.retryAfterMs ?? 0) : Number.NaN);

  // Mutation: floor in place of ceil in any wait; a ms more in any wait.
  it(`passes at that very ms, and not one before: ${DENIALS} denials (seed ${SEED})`, async () => {
    const store = new RedisLimitStore({ redis: place.redis as Redis, testClock: clock.now });
    let [denials, number] = [0, 0];
    for (const { kind, limit, windowMs, costs, pauses } of fc.sample(client, { numRuns: DENIALS, seed: SEED })) {
      if (denials >= DENIALS) break;
      number += 1;
      for (const [at, wanted] of costs.entries()) {
        clock.advance(pauses[at] ?? 0);
        const charge = namedRateOf(kind, `wait:${number}`, limit, windowMs, Math.min(wanted, limit));
        const ask = (): Promise<Verdict> => store.judgeAndSpend(checkOf([charge]), inGoodTime());
        const first = await ask();
        if (first.status !== 'denied') continue;
        denials += 1;
        const waitMs = waitOf(first);
        clock.advance(waitMs - 1);
        const early = waitMs > 1 ? await ask() : first;
        clock.advance(1);
        const told = await ask();
        expect([kind, limit, windowMs, waitMs, early.status, told.status]).toEqual([kind, limit, windowMs, waitMs, 'denied', 'allowed']);
      }
    }
    expect(denials).toBeGreaterThanOrEqual(DENIALS);
  }, figure(120_000, 3_600_000));
});
