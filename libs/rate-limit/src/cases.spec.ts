import { redisKeys } from '@quotaplane/contracts';
import { TestClock } from '@quotaplane/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { counterKey } from './counter-key';
import { InProcessLimitStore } from './memory/in-process-limit-store';
import type { LimitRedis } from './redis/connect-limit-redis';
import { checkOf, countOf, inGoodTime } from './rig/connected';
import { REDIS_PLACES, startRedisPlace, type RedisPlace } from './rig/redis-place';
import type { Charge, ChargeState, LimitStore, QuotaCharge, RateCharge, Verdict } from './store';

/** A whole minute and hour of a whole day, so that aligned windows start here. */
const DAY_START_MS = Date.UTC(2026, 11, 1);
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const KINDS = ['bucket', 'epoch', 'first-hit'] as const;

/** The same cases on all stores: one meaning, three places for counters. */
describe.each([...REDIS_PLACES, 'process'] as const)('cases on counters in %s', (kind) => {
  let clock: TestClock;
  let store: LimitStore;
  let place: RedisPlace | undefined;
  /** Where the counters can be looked at from outside. */
  let redis: LimitRedis | undefined;

  beforeAll(async () => {
    place = kind === 'process' ? undefined : await startRedisPlace(kind);
    redis = place?.redis;
  });

  afterAll(() => place?.close());

  beforeEach(async () => {
    clock = new TestClock(DAY_START_MS);
    await place?.flush();
    await redis?.set(redisKeys.head('t'), '7.1');
    store = place?.storeOf({ testClock: clock.now }) ?? new InProcessLimitStore({ maxCounters: 10_000, now: clock.now });
  });

  const judge = (charges: readonly Charge[], untilMs = Number.MAX_SAFE_INTEGER): Promise<Verdict> => store.judgeAndSpend(checkOf(charges, { untilMs }), inGoodTime());
  const judgeMany = (times: number, charges: readonly Charge[]): Promise<Verdict[]> => Promise.all(Array.from({ length: times }, () => judge(charges)));
  const peek = (charges: readonly Charge[]): Promise<Verdict> => store.peek(checkOf(charges), inGoodTime());

  // Mutation: answer the wait of a window in seconds (start + windowMs - nowMs divided by 1,000).
  it('C001 answers the time left in ms, whatever the unit of the window', async () => {
    const minute = windowOf('w', 2, MINUTE_MS, 'epoch');
    await judge([minute]);
    clock.advance(1_000);
    await judge([minute]);
    clock.advance(9_000);
    expect(await judge([minute])).toMatchObject({ status: 'denied', states: [{ remaining: 0, retryAfterMs: 50_000 }] });
  });

  // Mutation: floorDivide in place of ceilDivide for retryAfterMs.
  it('C002 advertises a wait after which a lone client passes, and not a ms earlier', async () => {
    const slow = bucketOf('gcra', 2, 3_001, 1);
    await judge([slow]);
    const denied = stateOf(await judge([slow]));
    expect(denied.retryAfterMs).toBe(1_501);
    clock.advance(denied.retryAfterMs - 1);
    expect((await judge([slow])).status).toBe('denied');
    clock.advance(1);
    expect((await judge([slow])).status).toBe('allowed');
  });

  // Mutation: align a first-hit window to the epoch.
  it.each([['epoch', 20], ['first-hit', 60]] as const)('C004 resets a window of alignment %s after %i min', async (alignment, minutes) => {
    clock.advance(40 * MINUTE_MS);
    const hour = windowOf('hour', 1, HOUR_MS, alignment);
    await judge([hour]);
    const denied = stateOf(await judge([hour]));
    expect(denied.resetAfterMs).toBe(minutes * MINUTE_MS);
    if (redis !== undefined) expect(await redis.pttl(hour.counter)).toBeGreaterThanOrEqual(denied.resetAfterMs);
  });

  // Mutation: `>` in place of `>=` where a window's end is compared.
  it.each(['epoch', 'first-hit'] as const)('ends a window of alignment %s at its end, not a ms before or after', async (alignment) => {
    const second = windowOf('edge', 1, 1_000, alignment);
    await judge([second]);
    clock.advance(999);
    expect(await judge([second])).toMatchObject({ status: 'denied', states: [{ retryAfterMs: 1 }] });
    clock.advance(1);
    expect(await judge([second])).toMatchObject({ status: 'allowed', states: [{ resetAfterMs: 1_000 }] });
  });

  // Mutation: deny at `cost >= limit - count`.
  it.each(KINDS)('C005 lets the last unit through: %s', async (kind) => {
    const verdicts = await judgeMany(11, [rateOf(kind, 10)]);
    expect(verdicts.map((verdict) => verdict.status)).toEqual([...Array<string>(10).fill('allowed'), 'denied']);
  });

  // Mutation: spend min(cost, remaining) on a denial; or leave out the capacity test.
  it.each(KINDS)('C041 C063 denies a cost above what is left without draining it: %s', async (kind) => {
    const limit = (cost: number): RateCharge => ({ ...rateOf(kind, 10), cost });
    await judge([limit(8)]);
    expect(await judge([limit(5)])).toMatchObject({ status: 'denied', states: [{ remaining: 2 }] });
    expect(await judge([limit(1)])).toMatchObject({ status: 'allowed', states: [{ remaining: 1, retryAfterMs: 0 }] });
    expect(await judge([limit(1_000_000)])).toMatchObject({ status: 'denied', states: [{ remaining: 1, retryAfterMs: -1 }] });
    if (redis !== undefined) expect(await redis.pttl(limit(1).counter)).toBeLessThanOrEqual(2 * MINUTE_MS);
  });

  // Mutation: drop the branch for a limit of 0 (the wait divides by it).
  it.each(KINDS)('C043 denies all at limit 0, with the segment\'s end as the hint: %s', async (kind) => {
    const closed = { ...rateOf(kind, 0), cost: 1 };
    expect(await judge([closed], DAY_START_MS + 5_000)).toMatchObject({ status: 'denied', states: [{ remaining: 0, retryAfterMs: 5_000 }] });
    expect(await judge([closed])).toMatchObject({ status: 'denied', states: [{ retryAfterMs: 86_400_000 }] });
    expect((await judge([{ ...closed, cost: 0 }])).status).toBe('denied');
    expect(await judge([{ ...quotaOf(0), overage: 'bill' }])).toMatchObject({ status: 'denied', states: [{ remaining: 0, retryAfterMs: 86_400_000 }] });
  });

  // Mutation: `cost || 1`.
  it.each(KINDS)('C044 spends nothing for a cost of 0: %s', async (kind) => {
    await judge([{ ...rateOf(kind, 10), cost: 4 }]);
    const looks = await judgeMany(100, [{ ...rateOf(kind, 10), cost: 0 }]);
    expect(looks.every((verdict) => verdict.status === 'allowed' && stateOf(verdict).remaining === 6)).toBe(true);
  });

  // Mutation: charge before judging, or charge denials.
  it.each(KINDS)('C049 counts no denial, so that a raise helps at once: %s', async (kind) => {
    expect(countOf(await judgeMany(50, [rateOf(kind, 10)]), 'allowed')).toBe(10);
    expect(countOf(await judgeMany(20, [rateOf(kind, 20)]), 'allowed')).toBe(10);
  });

  // Mutation: put the limit's value into counterKey.
  it.each(KINDS)('C051 keeps the count across an edit of the limit: %s', async (kind) => {
    await judge([{ ...rateOf(kind, 10), cost: 9 }]);
    expect(stateOf(await peek([rateOf(kind, 11)])).remaining).toBe(2);
    expect(stateOf(await peek([rateOf(kind, 10)])).remaining).toBe(1);
    expect(stateOf(await peek([rateOf(kind, 5)])).remaining).toBe(0);
  });

  // Mutation: spend each charge as it is judged.
  it.each(KINDS)('C062 charges no limit when another one denies: %s', async (kind) => {
    const second = { ...rateOf(kind, 10), counter: 'qp:{t}:c:second', windowMs: 1_000 };
    const minute = { ...rateOf(kind, 100), counter: 'qp:{t}:c:minute' };
    const quota = quotaOf(1_000);
    await judge([{ ...minute, cost: 100 }]);
    const verdicts = await judgeMany(50, [second, quota, minute]);
    expect(countOf(verdicts, 'denied')).toBe(50);
    expect(await peek([second, quota])).toMatchObject({ states: [{ remaining: 10 }, { remaining: 1_000 }] });
    if (redis !== undefined) expect(await redis.exists(second.counter, quota.counter)).toBe(0);
  });

  // Mutation: keep the numbers of the first charge of a counter's kind.
  it('C086 judges interleaved policies by their own numbers', async () => {
    const [few, many] = [rateOf('epoch', 5), { ...rateOf('epoch', 50), counter: 'qp:{t}:c:many' }];
    const verdicts = await Promise.all(Array.from({ length: 120 }, (_, at) => judge([at % 2 === 0 ? few : many])));
    expect(countOf(verdicts.filter((_, at) => at % 2 === 0), 'allowed')).toBe(5);
    expect(countOf(verdicts.filter((_, at) => at % 2 === 1), 'allowed')).toBe(50);
  });

  // Mutation: judge the second charge on the stored counter instead of the first one's draft.
  it.each(KINDS)('spends all or nothing when one call names a counter twice: %s', async (kind) => {
    const twice = (one: number, other: number): Charge[] => [{ ...rateOf(kind, 10), cost: one }, { ...rateOf(kind, 10), cost: other }];
    expect(await judge(twice(4, 4))).toMatchObject({ status: 'allowed', states: [{ remaining: 2 }, { remaining: 2 }] });
    expect(await judge(twice(1, 2))).toMatchObject({ status: 'denied', states: [{ remaining: 2, retryAfterMs: 0 }, { remaining: 2 }] });
    expect(await judge(twice(6, 6))).toMatchObject({ status: 'denied', states: [{ remaining: 2 }, { retryAfterMs: -1 }] });
    expect((await judge(twice(1, 1))).status).toBe('allowed');
  });

  // Mutation: charge the lane within the allowance, or forget the quota's own count past it.
  it('drops to the throttle lane past the allowance, and bills past it', async () => {
    const lane = { ...bucketOf('lane', 1, 1_000, 1), cost: 1 };
    const throttled: QuotaCharge = { ...quotaOf(2), overage: 'throttle', lane };
    expect(await judge([throttled])).toMatchObject({ status: 'allowed', states: [{ remaining: 1 }] });
    expect(stateOf(await judge([throttled]))).not.toHaveProperty('lane');
    expect(await judge([throttled])).toMatchObject({ status: 'allowed', states: [{ remaining: 0, lane: { remaining: 0 } }] });
    expect(await judge([throttled])).toMatchObject({ status: 'denied', states: [{ retryAfterMs: 0, lane: { retryAfterMs: 1_000 } }] });
    clock.advance(1_000);
    expect((await judge([throttled])).status).toBe('allowed');
    expect(await judge([{ ...quotaOf(2), overage: 'bill' }])).toMatchObject({ status: 'allowed', states: [{ remaining: 0, resetAfterMs: 30 * 86_400_000 - 1_000 }] });
    expect(stateOf(await peek([quotaOf(null)])).remaining).toBe(Number.MAX_SAFE_INTEGER - 5);
  });

  // Mutation: keep the stored time after a step back; or drop the count with it.
  it.each(KINDS)('P05 neither admits more nor locks out over a window when the store\'s clock steps back: %s', async (kind) => {
    clock.advance(30_000);
    expect(countOf(await judgeMany(12, [rateOf(kind, 10)]), 'allowed')).toBe(10);
    clock.advance(-600_000);
    expect(countOf(await judgeMany(12, [rateOf(kind, 10)]), 'allowed')).toBe(0);
    clock.advance(MINUTE_MS);
    expect(countOf(await judgeMany(12, [rateOf(kind, 10)]), 'allowed')).toBe(10);
  });
});

const bucketOf = (name: string, limit: number, windowMs: number, capacity = limit): RateCharge & { kind: 'bucket' } => ({ kind: 'bucket', counter: `qp:{t}:c:${name}`, limit, windowMs, capacity, cost: 1 });
const windowOf = (name: string, limit: number, windowMs: number, alignment: 'epoch' | 'first-hit'): RateCharge => ({ kind: 'window', counter: `qp:{t}:c:${name}`, limit, windowMs, alignment, cost: 1 });
const quotaOf = (allowance: number | null): QuotaCharge => ({
  kind: 'quota', counter: 'qp:{t}:q:requests:2026-12-01:1:1', base: 'qp:{t}:b:requests:2026-12-01:1:1', allowance, overage: 'reject', periodEndMs: DAY_START_MS + 30 * 86_400_000, cost: 1,
});

/** A limit per minute as a policy names it: the same counter whatever the limit's value. */
const rateOf = (kind: (typeof KINDS)[number], limit: number): RateCharge => {
  const counter = counterKey({ tenant: 't', limit: 'per-minute', algorithm: kind === 'bucket' ? 'token-bucket' : 'fixed-window', windowMs: MINUTE_MS, scope: 'tenant', subject: '' });
  return kind === 'bucket'
    ? { kind, counter, limit, windowMs: MINUTE_MS, capacity: limit, cost: 1 }
    : { kind: 'window', counter, limit, windowMs: MINUTE_MS, alignment: kind, cost: 1 };
};

const stateOf = (verdict: Verdict): ChargeState => {
  if (!('states' in verdict) || verdict.states[0] === undefined) throw new TypeError(`no state in a verdict of status ${verdict.status}`);
  return verdict.states[0];
};
