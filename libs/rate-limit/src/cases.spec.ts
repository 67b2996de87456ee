import * as testing from '@quotaplane/testing';
import { expect, it } from 'vitest';
import { admitted } from './admitted';
import { countOf } from './rig/connected';
import { describeOnEveryStore } from './rig/every-store';
import { bucketOf, DAY_START_MS, HOUR_MS, KINDS, MINUTE_MS, queueOf, quotaOf, rateOf, stateOf, windowOf } from './rig/rates';
import type { Charge, QuotaCharge, RateCharge } from './store';

describeOnEveryStore('cases', testing, (place) => {
  // Mutation: answer the wait of a window in seconds (start + windowMs - nowMs divided by 1,000).
  it('C001 answers the time left in ms, whatever the unit of the window', async () => {
    const minute = windowOf('w', 2, MINUTE_MS, 'epoch');
    await place().judge([minute]);
    place().clock.advance(1_000);
    await place().judge([minute]);
    place().clock.advance(9_000);
    expect(await place().judge([minute])).toMatchObject({ status: 'denied', states: [{ remaining: 0, retryAfterMs: 50_000 }] });
  });

  // Mutation: floorDivide in place of ceilDivide for retryAfterMs.
  it('C002 advertises a wait after which a lone client passes, and not a ms earlier', async () => {
    const slow = bucketOf('gcra', 2, 3_001, 1);
    await place().judge([slow]);
    const denied = stateOf(await place().judge([slow]));
    expect(denied.retryAfterMs).toBe(1_501);
    place().clock.advance(denied.retryAfterMs - 1);
    expect((await place().judge([slow])).status).toBe('denied');
    place().clock.advance(1);
    expect((await place().judge([slow])).status).toBe('allowed');
  });

  // Mutation: align a first-hit window to the epoch.
  it.each([['epoch', 20], ['first-hit', 60]] as const)('C004 resets a window of alignment %s after %i min', async (alignment, minutes) => {
    place().clock.advance(40 * MINUTE_MS);
    const hour = windowOf('hour', 1, HOUR_MS, alignment);
    await place().judge([hour]);
    const denied = stateOf(await place().judge([hour]));
    expect(denied.resetAfterMs).toBe(minutes * MINUTE_MS);
    const { redis } = place();
    if (redis !== undefined) expect(await redis.pttl(hour.counter)).toBeGreaterThanOrEqual(denied.resetAfterMs);
  });

  // Mutation: `>` in place of `>=` where a window's end is compared.
  it.each(['epoch', 'first-hit'] as const)('ends a window of alignment %s at its end, not a ms before or after', async (alignment) => {
    const second = windowOf('edge', 1, 1_000, alignment);
    await place().judge([second]);
    place().clock.advance(999);
    expect(await place().judge([second])).toMatchObject({ status: 'denied', states: [{ retryAfterMs: 1 }] });
    place().clock.advance(1);
    expect(await place().judge([second])).toMatchObject({ status: 'allowed', states: [{ resetAfterMs: 1_000 }] });
  });

  // Mutation: deny at `cost >= limit - count`.
  it.each(KINDS)('C005 lets the last unit through: %s', async (kind) => {
    const verdicts = await place().judgeMany(11, [rateOf(kind, 10)]);
    expect(verdicts.map((verdict) => verdict.status)).toEqual([...Array<string>(10).fill('allowed'), 'denied']);
  });

  // Mutation: spend min(cost, remaining) on a denial; or leave out the capacity test.
  it.each(KINDS)('C041 C063 denies a cost above what is left without draining it: %s', async (kind) => {
    const limit = (cost: number): RateCharge => ({ ...rateOf(kind, 10), cost });
    await place().judge([limit(8)]);
    expect(await place().judge([limit(5)])).toMatchObject({ status: 'denied', states: [{ remaining: 2 }] });
    expect(await place().judge([limit(1)])).toMatchObject({ status: 'allowed', states: [{ remaining: 1, retryAfterMs: 0 }] });
    expect(await place().judge([limit(1_000_000)])).toMatchObject({ status: 'denied', states: [{ remaining: 1, retryAfterMs: -1 }] });
    const { redis } = place();
    if (redis !== undefined) expect(await redis.pttl(limit(1).counter)).toBeLessThanOrEqual(3 * MINUTE_MS);
  });

  // Mutation: drop the branch for a limit of 0 (the wait divides by it).
  it.each(KINDS)('C043 denies all at limit 0, with the segment\'s end as the hint: %s', async (kind) => {
    const closed = { ...rateOf(kind, 0), cost: 1 };
    expect(await place().judge([closed], DAY_START_MS + 5_000)).toMatchObject({ status: 'denied', states: [{ remaining: 0, retryAfterMs: 5_000 }] });
    expect(await place().judge([closed])).toMatchObject({ status: 'denied', states: [{ retryAfterMs: 86_400_000 }] });
    expect((await place().judge([{ ...closed, cost: 0 }])).status).toBe('denied');
    expect(await place().judge([{ ...quotaOf(0), overage: 'bill' }])).toMatchObject({ status: 'denied', states: [{ remaining: 0, retryAfterMs: 86_400_000 }] });
  });

  // Mutation: `cost || 1`.
  it.each(KINDS)('C044 spends nothing for a cost of 0: %s', async (kind) => {
    await place().judge([{ ...rateOf(kind, 10), cost: 4 }]);
    const looks = await place().judgeMany(100, [{ ...rateOf(kind, 10), cost: 0 }]);
    expect(looks.every((verdict) => verdict.status === 'allowed' && stateOf(verdict).remaining === 6)).toBe(true);
  });

  // Mutation: charge before judging, or charge denials.
  it.each(KINDS)('C049 counts no denial, so that a raise helps at once: %s', async (kind) => {
    expect(countOf(await place().judgeMany(50, [rateOf(kind, 10)]), 'allowed')).toBe(10);
    expect(countOf(await place().judgeMany(20, [rateOf(kind, 20)]), 'allowed')).toBe(10);
  });

  // Mutation: put the limit's value into counterKey.
  it.each(KINDS)('C051 keeps the count across an edit of the limit: %s', async (kind) => {
    await place().judge([{ ...rateOf(kind, 10), cost: 9 }]);
    expect(stateOf(await place().peek([rateOf(kind, 11)])).remaining).toBe(2);
    expect(stateOf(await place().peek([rateOf(kind, 10)])).remaining).toBe(1);
    expect(stateOf(await place().peek([rateOf(kind, 5)])).remaining).toBe(0);
  });

  // Mutation: spend each charge as it is judged.
  it.each(KINDS)('C062 charges no limit when another one denies: %s', async (kind) => {
    const second = { ...rateOf(kind, 10), counter: 'qp:{t}:c:second', windowMs: 1_000 };
    const minute = { ...rateOf(kind, 100), counter: 'qp:{t}:c:minute' };
    const quota = quotaOf(1_000);
    await place().judge([{ ...minute, cost: 100 }]);
    const verdicts = await place().judgeMany(50, [second, quota, minute]);
    expect(countOf(verdicts, 'denied')).toBe(50);
    expect(await place().peek([second, quota])).toMatchObject({ states: [{ remaining: 10 }, { remaining: 1_000 }] });
    const { redis } = place();
    if (redis !== undefined) expect(await redis.exists(second.counter, quota.counter)).toBe(0);
  });

  // Mutation: keep the numbers of the first charge of a counter's kind.
  it('C086 judges interleaved policies by their own numbers', async () => {
    const [few, many] = [rateOf('epoch', 5), { ...rateOf('epoch', 50), counter: 'qp:{t}:c:many' }];
    const verdicts = await Promise.all(Array.from({ length: 120 }, (_, at) => place().judge([at % 2 === 0 ? few : many])));
    expect(countOf(verdicts.filter((_, at) => at % 2 === 0), 'allowed')).toBe(5);
    expect(countOf(verdicts.filter((_, at) => at % 2 === 1), 'allowed')).toBe(50);
  });

  // Mutation: judge the second charge on the stored counter instead of the first one's draft.
  it.each(KINDS)('spends all or nothing when one call names a counter twice: %s', async (kind) => {
    const twice = (one: number, other: number): Charge[] => [{ ...rateOf(kind, 10), cost: one }, { ...rateOf(kind, 10), cost: other }];
    expect(await place().judge(twice(4, 4))).toMatchObject({ status: 'allowed', states: [{ remaining: 2 }, { remaining: 2 }] });
    expect(await place().judge(twice(1, 2))).toMatchObject({ status: 'denied', states: [{ remaining: 2, retryAfterMs: 0 }, { remaining: 2 }] });
    expect(await place().judge(twice(6, 6))).toMatchObject({ status: 'denied', states: [{ remaining: 2 }, { retryAfterMs: -1 }] });
    expect((await place().judge(twice(1, 1))).status).toBe('allowed');
  });

  // Mutation: charge the lane within the allowance, or forget the quota's own count past it.
  it('drops to the throttle lane past the allowance, and bills past it', async () => {
    const lane = { ...bucketOf('lane', 1, 1_000, 1), cost: 1 };
    const throttled: QuotaCharge = { ...quotaOf(2), overage: 'throttle', lane };
    expect(await place().judge([throttled])).toMatchObject({ status: 'allowed', states: [{ remaining: 1 }] });
    expect(stateOf(await place().judge([throttled]))).not.toHaveProperty('lane');
    expect(await place().judge([throttled])).toMatchObject({ status: 'allowed', states: [{ remaining: 0, lane: { remaining: 0 } }] });
    expect(await place().judge([throttled])).toMatchObject({ status: 'denied', states: [{ retryAfterMs: 0, lane: { retryAfterMs: 1_000 } }] });
    place().clock.advance(1_000);
    expect((await place().judge([throttled])).status).toBe('allowed');
    expect(await place().judge([{ ...quotaOf(2), overage: 'bill' }])).toMatchObject({ status: 'allowed', states: [{ remaining: 0, resetAfterMs: 30 * 86_400_000 - 1_000 }] });
    expect(stateOf(await place().peek([quotaOf(null)])).remaining).toBe(Number.MAX_SAFE_INTEGER - 5);
  });

  // Mutation: keep the stored time after a step back; or drop the count with it.
  it.each(KINDS)('P05 neither admits more nor locks out over a window when the store\'s clock steps back: %s', async (kind) => {
    place().clock.advance(30_000);
    expect(countOf(await place().judgeMany(12, [rateOf(kind, 10)]), 'allowed')).toBe(10);
    place().clock.advance(-600_000);
    expect(countOf(await place().judgeMany(12, [rateOf(kind, 10)]), 'allowed')).toBe(0);
    place().clock.advance(MINUTE_MS);
    // A sliding counter weighs the older window as without the step: half of it is still inside.
    expect(countOf(await place().judgeMany(12, [rateOf(kind, 10)]), 'allowed')).toBe(kind === 'counter' ? 5 : 10);
  });

  // Mutation: answer a ms less, or a ms more.
  it.each(KINDS)('C002 P03 passes exactly at the end of the wait it advertises: %s', async (kind) => {
    place().clock.advance(7_001);
    await place().judgeMany(3, [rateOf(kind, 7)]);
    place().clock.advance(9_002);
    await place().judgeMany(4, [rateOf(kind, 7)]);
    const asked = { ...rateOf(kind, 7), cost: 2 };
    const { retryAfterMs } = stateOf(await place().judge([asked]));
    expect(retryAfterMs).toBeGreaterThan(0);
    place().clock.advance(retryAfterMs - 1);
    expect(await place().judge([asked])).toMatchObject({ status: 'denied', states: [{ retryAfterMs: 1 }] });
    place().clock.advance(1);
    expect((await place().judge([asked])).status).toBe('allowed');
  });

  // Mutation: leave a refund out when nothing remains.
  it.each(KINDS)('C042 gives a refund back to an exhausted limit: %s', async (kind) => {
    const charges = [rateOf(kind, 10)];
    const verdicts = await place().judgeMany(10, charges);
    const last = verdicts.at(-1);
    if (last?.status !== 'allowed') throw new TypeError('not admitted');
    expect((await place().judge(charges)).status).toBe('denied');
    await place().refund(admitted(charges, last));
    expect((await place().judge(charges)).status).toBe('allowed');
    expect((await place().judge(charges)).status).toBe('denied');
  });

  // Mutation: add units past untouched.
  it.each(KINDS)('P02 never gives back more than was charged: %s', async (kind) => {
    const charges = [{ ...rateOf(kind, 10), cost: 4 }];
    const verdict = await place().judge(charges);
    if (verdict.status !== 'allowed') throw new TypeError('not admitted');
    const back = admitted(charges, verdict);
    for (let time = 0; time < 3; time += 1) await place().refund(back);
    // A call that has left a queue keeps the outflow busy all the same: what follows it must not come sooner.
    expect(stateOf(await place().peek(charges))).toMatchObject({ remaining: 10, resetAfterMs: kind === 'queue' ? 24_000 : 0, moreAfterMs: 0 });
    place().clock.advance(24_000);
    for (let time = 0; time < 3; time += 1) await place().refund(back);
    expect(await place().redis?.exists(rateOf(kind, 10).counter) ?? 0).toBe(0);
  });

  // Mutation: answer waits in whole seconds, or fractions of a ms.
  it.each(KINDS)('C046 answers the wait in whole ms: %s', async (kind) => {
    const slow = kind === 'queue' ? { ...queueOf('slow', 1, 1_000), maxWaitMs: 0 } : rateOf(kind, 1, 1_000);
    await place().judge([slow]);
    place().clock.advance(600);
    // A sliding counter has the call inside until the end of the next window.
    const waitMs = kind === 'counter' ? 1_400 : 400;
    expect(await place().judge([slow])).toMatchObject({ status: 'denied', states: [{ retryAfterMs: waitMs }] });
    place().clock.advance(waitMs);
    expect((await place().judge([slow])).status).toBe('allowed');
  });
});
