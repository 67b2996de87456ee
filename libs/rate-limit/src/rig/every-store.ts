import { redisKeys } from '@quotaplane/contracts';
import { afterAll, beforeAll, beforeEach, describe } from 'vitest';
import { InProcessLimitStore } from '../memory/in-process-limit-store';
import type { LimitRedis } from '../redis/connect-limit-redis';
import type { AdmittedCharge, Charge, LimitStore, Verdict } from '../store';
import { checkOf, inGoodTime } from './connected';
import { DAY_START_MS } from './rates';
import { REDIS_PLACES, startRedisPlace, type RedisPlace } from './redis-place';

interface Clock {
  readonly now: () => number;
  advance(byMs: number): void;
  set(ms: number): void;
}

/** `@quotaplane/testing`, which only specs may import. */
type Testing = Parameters<typeof startRedisPlace>[1] & { readonly TestClock: new (startMs: number) => Clock };

/** What a case works with, on any store; its clock starts at a whole day. For specs. */
export interface Place {
  readonly clock: Clock;
  /** Where the counters can be looked at from outside; undefined in process. */
  readonly redis: LimitRedis | undefined;
  judge(charges: readonly Charge[], untilMs?: number): Promise<Verdict>;
  judgeMany(times: number, charges: readonly Charge[]): Promise<Verdict[]>;
  peek(charges: readonly Charge[]): Promise<Verdict>;
  refund(charges: readonly AdmittedCharge[]): Promise<boolean>;
}

const placeOn = (store: LimitStore, clock: Clock, redis: LimitRedis | undefined): Place => {
  const judge: Place['judge'] = (charges, untilMs = Number.MAX_SAFE_INTEGER) => store.judgeAndSpend(checkOf(charges, { untilMs }), inGoodTime());
  return {
    clock, redis, judge,
    judgeMany: (times, charges) => Promise.all(Array.from({ length: times }, () => judge(charges))),
    peek: (charges) => store.peek(checkOf(charges), inGoodTime()),
    refund: (charges) => store.refund(charges, inGoodTime()),
  };
};

/** The same cases on all stores: one meaning, three places for counters. @param cases asks for the place within each case */
export const describeOnEveryStore = (name: string, testing: Testing, cases: (place: () => Place) => void): void => {
  describe.each([...REDIS_PLACES, 'process'] as const)(`${name} on counters in %s`, (kind) => {
    let servers: RedisPlace | undefined;
    let place: Place;

    beforeAll(async () => {
      servers = kind === 'process' ? undefined : await startRedisPlace(kind, testing);
    });

    afterAll(() => servers?.close());

    beforeEach(async () => {
      const clock = new testing.TestClock(DAY_START_MS);
      await servers?.flush();
      await servers?.redis.set(redisKeys.head('t'), '7.1');
      const store = servers?.storeOf({ testClock: clock.now }) ?? new InProcessLimitStore({ maxCounters: 10_000, now: clock.now });
      place = placeOn(store, clock, servers?.redis);
    });

    cases(() => place);
  });
};
