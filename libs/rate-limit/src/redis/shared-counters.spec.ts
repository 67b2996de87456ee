import { redisKeys } from '@quotaplane/contracts';
import * as testing from '@quotaplane/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { admitted } from '../admitted';
import { checkOf, countOf, inGoodTime, withUnits } from '../rig/connected';
import { KINDS, rateOf } from '../rig/rates';
import { REDIS_PLACES, startRedisPlace, type RedisPlace } from '../rig/redis-place';
import type { Charge, LimitStore, QuotaCharge, RateCharge, Verdict } from '../store';
import type { LimitRedis } from './connect-limit-redis';

const GRACE_MS = 60_000;

describe.each(REDIS_PLACES)('on %s', (kind) => {
  let place: RedisPlace;
  let redis: LimitRedis;

  beforeAll(async () => {
    place = await startRedisPlace(kind, testing, 2);
    redis = place.redis;
  });

  afterAll(() => place.close());

  beforeEach(async () => {
    await place.flush();
    await redis.set(redisKeys.head('t'), '7.1');
  });

  afterEach(() => vi.restoreAllMocks());

  const nodes = (testClock?: () => number): LimitStore[] => place.clients.map((_, at) => place.storeOf(testClock ? { testClock } : {}, at));
  const windowOf = (counter: string, limit: number, windowMs: number, alignment: 'epoch' | 'first-hit' = 'epoch'): RateCharge => ({ kind: 'window', counter: `qp:{t}:c:${counter}`, limit, windowMs, alignment, cost: 1 });
  const bucketOf = (counter: string, limit: number, windowMs: number, capacity = limit): RateCharge => ({ kind: 'bucket', counter: `qp:{t}:c:${counter}`, limit, windowMs, capacity, cost: 1 });
  const quotaOf = (change: Partial<QuotaCharge>): QuotaCharge => ({ kind: 'quota', counter: 'qp:{t}:q:m', base: 'qp:{t}:b:m', allowance: 100, overage: 'reject', periodEndMs: Date.now() + 86_400_000, cost: 1, ...change });

  /** `times` calls spread over the nodes, all under way at once. */
  const hammer = (stores: readonly LimitStore[], times: number, charges: (at: number) => Charge[]): Promise<Verdict[]> =>
    Promise.all(Array.from({ length: times }, (_, at) => stores[at % stores.length]!.judgeAndSpend(checkOf(charges(at)), inGoodTime())));

  const storeTime = async (): Promise<number> => {
    const [seconds = 0, micros = 0] = await redis.eval("return redis.call('TIME')", 1, redisKeys.head('t')) as [number, number];
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  };

  describe('many nodes, one counter', () => {
    // Mutation: read the counters of a batch anew for each check but write them once (drop the slots table).
    it.each(KINDS)('C011 P01 admits exactly 5 of 1,000 parallel calls over two nodes, in each window: %s', async (algorithm) => {
      const clock = new testing.TestClock();
      const stores = nodes(clock.now);
      for (let round = 0; round < 5; round += 1) {
        expect(countOf(await hammer(stores, 1_000, () => [rateOf(algorithm, 5, 1_000)]), 'allowed')).toBe(5);
        // A sliding counter has the window before inside for one more.
        clock.advance(algorithm === 'counter' ? 2_000 : 1_000);
      }
    });

    // Mutation: send Date.now() as ARGV[1].
    it('C024 P05 admits by the store\'s clock, whatever the nodes\' clocks say', async () => {
      let calls = 0;
      const real = Date.now.bind(Date);
      vi.spyOn(Date, 'now').mockImplementation(() => real() - ((calls += 1) % 2) * 1_000);
      const fromMs = await storeTime();
      const verdicts = await hammer(nodes(), 10_000, () => [bucketOf('skewed', 50, 1_000, 150)]);
      const elapsedMs = (await storeTime()) - fromMs;
      const admittedCount = countOf(verdicts, 'allowed');
      expect(admittedCount).toBeGreaterThanOrEqual(150);
      expect(admittedCount).toBeLessThanOrEqual(150 + Math.ceil(elapsedMs / 20));
    });

    // Mutation: take the window's start from Date.now().
    it('C026 gives nodes at +30 s and -30 s one window and one reset', async () => {
      const real = Date.now.bind(Date);
      const stores = nodes();
      const verdicts: Verdict[] = [];
      for (const [at, offsetMs] of [30_000, -30_000].entries()) {
        vi.spyOn(Date, 'now').mockImplementation(() => real() + offsetMs);
        verdicts.push(...(await hammer([stores[at]!], 10, () => [windowOf('edge', 10, 86_400_000)])));
      }
      expect(countOf(verdicts, 'allowed')).toBe(10);
      const resets = new Set(verdicts.map((verdict) => ('states' in verdict ? verdict.nowMs + (verdict.states[0]?.resetAfterMs ?? 0) : 0)));
      expect(resets.size).toBe(1);
    });
  });

  describe('P06 no immortal counters', () => {
    /** All algorithms in one check, and each alone: a plain one is judged by a script of its own. */
    const togetherAndAlone = (limit: number, windowMs: number, name: (at: number) => number) => (at: number): Charge[][] => {
      const named = (prefix: string): Charge[] => KINDS.map((algorithm) => ({ ...rateOf(algorithm, limit, windowMs), counter: `qp:{t}:c:${prefix}${algorithm}${name(at)}` }));
      return [named(''), ...named('alone-').map((charge) => [charge])];
    };
    const hammerEach = (stores: readonly LimitStore[], times: number, checks: (at: number) => Charge[][]): Promise<Verdict[]> => {
      const all = Array.from({ length: times }, (_, at) => checks(at)).flat();
      return hammer(stores, all.length, (at) => all[at] ?? []);
    };

    // Mutation: SET without PX; MSET without PEXPIRE.
    it('C020 gives each of 1,000 subjects a life on each algorithm', async () => {
      const windowMs = 30_000;
      await hammerEach(nodes(), 1_000, togetherAndAlone(10, windowMs, (at) => at));
      const keys = await place.keys('qp:{t}:c:*');
      expect(keys).toHaveLength(2 * 1_000 * KINDS.length);
      for (const pttl of await Promise.all(keys.map((key) => redis.pttl(key)))) {
        expect(pttl).toBeGreaterThan(0);
        expect(pttl).toBeLessThanOrEqual(2 * windowMs + GRACE_MS);
      }
    });

    // Mutation: set the life only where the counter is new.
    it('C022 leaves no counter without a life over 10,000 calls at a window\'s edge', async () => {
      const clock = new testing.TestClock(Date.UTC(2026, 0, 15));
      const stores = nodes(clock.now);
      for (let round = 0; round < 100; round += 1) {
        clock.set(Date.UTC(2026, 0, 15) + 1_000 * (1 + (round >> 1)) + ((round % 3) - 1));
        await hammerEach(stores, 100, togetherAndAlone(3, 1_000, (at) => at % 4));
        const lives = await Promise.all((await place.keys('qp:{t}:c:*')).map((key) => redis.pttl(key)));
        expect(lives.every((pttl) => pttl > 0)).toBe(true);
      }
    });

    // Mutation: lengthen on spending only.
    it('lengthens a life that a lowered limit outlasts, also on a denial', async () => {
      const [store] = nodes() as [LimitStore];
      await store.judgeAndSpend(checkOf([{ ...bucketOf('low', 100, 1_000), cost: 100 }]), inGoodTime());
      expect(await redis.pttl('qp:{t}:c:low')).toBeLessThanOrEqual(61_000);
      expect((await store.judgeAndSpend(checkOf([bucketOf('low', 1, 1_000, 10)]), inGoodTime())).status).toBe('denied');
      expect(await redis.pttl('qp:{t}:c:low')).toBeGreaterThan(150_000);
    });
  });

  describe('quota', () => {
    // Mutation: INCRBY in place of the exact sum.
    it('C045 P14 counts exactly to 2^53-1 and refuses beyond', async () => {
      const [store] = nodes() as [LimitStore];
      const quota = quotaOf({ allowance: null });
      await redis.set(quota.counter, '9007199254740990');
      const statuses: string[] = [];
      for (let call = 0; call < 6; call += 1) statuses.push((await store.judgeAndSpend(checkOf([quota]), inGoodTime())).status);
      expect(statuses).toEqual(['allowed', ...Array<string>(5).fill('denied')]);
      expect(await redis.get(quota.counter)).toBe('9007199254740991');
    });

    // Mutation: leave the base out of `used`.
    it('counts what the ledger says beside the counter', async () => {
      const [store] = nodes() as [LimitStore];
      await redis.hset('qp:{t}:b:m', { plus: '97', minus: '2' });
      const verdicts = await hammer([store], 8, () => [quotaOf({})]);
      expect(countOf(verdicts, 'allowed')).toBe(5);
      const life = await redis.pttl('qp:{t}:q:m');
      expect(Math.abs(life - (86_400_000 + 172_800_000))).toBeLessThan(10_000);
    });
  });

  describe('refund', () => {
    const clock = new testing.TestClock(Date.UTC(2026, 0, 15));

    // Mutation: refund whatever window runs.
    it('gives a window its units back while it runs, and not to the next one', async () => {
      const [store] = nodes(clock.now) as [LimitStore];
      const charges = [{ ...windowOf('back', 10, 60_000), cost: 7 }, { ...bucketOf('back-b', 10, 60_000), cost: 7 }, quotaOf({ cost: 7 })];
      const verdict = await store.judgeAndSpend(checkOf(charges), inGoodTime());
      if (verdict.status !== 'allowed') throw new TypeError('not admitted');
      const toRefund = admitted(charges, verdict);
      clock.advance(60_000);
      await store.judgeAndSpend(checkOf([{ ...windowOf('back', 10, 60_000), cost: 2 }]), inGoodTime());
      expect(await store.refund(toRefund, inGoodTime())).toBe(true);
      const left = await store.peek(checkOf(charges), inGoodTime());
      expect(left).toMatchObject({ states: [{ remaining: 8 }, { remaining: 10, resetAfterMs: 0 }, { remaining: 100 }] });
      expect(await redis.exists('qp:{t}:c:back-b', 'qp:{t}:q:m')).toBe(0);
    });

    // Mutation: subtract without stopping at 0.
    it('never gives back more than was left on the counter', async () => {
      const [store] = nodes(clock.now) as [LimitStore];
      const charges = [{ ...bucketOf('over', 10, 60_000), cost: 4 }, { ...windowOf('over-w', 10, 60_000), cost: 4 }];
      const verdict = await store.judgeAndSpend(checkOf(charges), inGoodTime());
      if (verdict.status !== 'allowed') throw new TypeError('not admitted');
      const toRefund = admitted(charges, verdict).map((charge) => withUnits(charge, 1_000));
      await store.refund(toRefund, inGoodTime());
      await store.refund(toRefund, inGoodTime());
      expect(await store.peek(checkOf(charges), inGoodTime())).toMatchObject({ states: [{ remaining: 10 }, { remaining: 10 }] });
      expect(await redis.exists('qp:{t}:c:over', 'qp:{t}:c:over-w')).toBe(0);
    });
  });
});
