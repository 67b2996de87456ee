import { MAX_EXACT } from '@quotaplane/contracts';
import * as testing from '@quotaplane/testing';
import { expect, it } from 'vitest';
import { countOf } from './rig/connected';
import { describeOnEveryStore } from './rig/every-store';
import { bucketOf, DAY_START_MS, quotaOf, stateOf } from './rig/rates';
import type { QuotaCharge } from './store';

const NEXT_MONTH_MS = Date.UTC(2027, 0, 1);
const TO_NEXT_MONTH_MS = NEXT_MONTH_MS - DAY_START_MS;

describeOnEveryStore('quotas', testing, (place) => {
  const monthly = (allowance: number | null, change: Partial<QuotaCharge> = {}): QuotaCharge => ({ ...quotaOf(allowance), periodEndMs: NEXT_MONTH_MS, ...change });
  const billed = (allowance: number, ceiling: number, cost = 1): QuotaCharge => monthly(allowance, { overage: 'bill', ceiling, cost });
  const throttled = (allowance: number, ceiling: number, cost = 1): QuotaCharge =>
    monthly(allowance, { overage: 'throttle', ceiling, cost, lane: { ...bucketOf('lane', 2, 1_000), cost } });

  // Mutation: keep the figures of the allowance that the units were admitted under; leave out the floor at 0.
  it('C050 leaves nothing, and never less than nothing, of an allowance lowered below what is used', async () => {
    await place().judge([monthly(5_000_000, { cost: 35 })]);
    expect(stateOf(await place().peek([monthly(5_000_000)])).remaining).toBe(4_999_965);
    expect(await place().judge([monthly(10)])).toMatchObject({ status: 'denied', states: [{ remaining: 0, retryAfterMs: TO_NEXT_MONTH_MS }] });
    expect(stateOf(await place().peek([monthly(10)])).remaining).toBe(0);
    expect(stateOf(await place().peek([monthly(35)])).remaining).toBe(0);
    expect(await place().judge([monthly(36)])).toMatchObject({ status: 'allowed', states: [{ remaining: 0 }] });
  });

  // Mutation: answer a window from the first call, or a life of the counter, in place of the period's end.
  it('C055 denies the sixth call of a monthly quota of five until the month ends, not a ms less', async () => {
    const verdicts = [];
    for (let call = 0; call < 6; call += 1) {
      verdicts.push(await place().judge([monthly(5)]));
      place().clock.advance(166);
    }
    expect(verdicts.map(({ status }) => status)).toEqual([...Array<string>(5).fill('allowed'), 'denied']);
    expect(verdicts.at(-1)).toMatchObject({ states: [{ remaining: 0, resetAfterMs: TO_NEXT_MONTH_MS - 830, retryAfterMs: TO_NEXT_MONTH_MS - 830 }] });
    const { redis } = place();
    if (redis !== undefined) expect(await redis.pttl(monthly(5).counter)).toBeGreaterThan(TO_NEXT_MONTH_MS);
    place().clock.set(NEXT_MONTH_MS - 1);
    expect(await place().judge([monthly(5)])).toMatchObject({ status: 'denied', states: [{ resetAfterMs: 1, retryAfterMs: 1 }] });
    // The next month is a counter of its own, for its id is part of the name.
    place().clock.set(NEXT_MONTH_MS);
    const next = { ...monthly(5), counter: 'qp:{t}:q:requests:2027-01-01:1:1', base: 'qp:{t}:b:requests:2027-01-01:1:1', periodEndMs: Date.UTC(2027, 1, 1) };
    expect(await place().judge([next])).toMatchObject({ status: 'allowed', states: [{ remaining: 4 }] });
  });

  // Mutation: deny at the ceiling instead of past it; charge the denial; count what is left from the ceiling.
  it('bills past the allowance up to the ceiling, and denies past that until the period\'s end', async () => {
    expect(countOf(await place().judgeMany(8, [billed(3, 5)]), 'allowed')).toBe(5);
    expect(await place().judge([billed(3, 5)])).toMatchObject({ status: 'denied', states: [{ remaining: 0, resetAfterMs: TO_NEXT_MONTH_MS, retryAfterMs: TO_NEXT_MONTH_MS }] });
    expect((await place().peek([billed(3, 5)])).status).toBe('allowed');
    expect(await place().judge([billed(3, 7, 2)])).toMatchObject({ status: 'allowed', states: [{ remaining: 0 }] });
    expect(stateOf(await place().peek([billed(10, 10)])).remaining).toBe(3);
  });

  // Mutation: compare a cost with the allowance, or answer a wait that never helps.
  it('never passes a cost above the ceiling itself, and takes one that is the whole of it', async () => {
    expect(await place().judge([billed(3, 5, 6)])).toMatchObject({ status: 'denied', states: [{ remaining: 3, retryAfterMs: -1 }] });
    expect(await place().judge([billed(3, 5, 5)])).toMatchObject({ status: 'allowed', states: [{ remaining: 0 }] });
    expect(await place().judge([billed(3, 5, 5)])).toMatchObject({ status: 'denied', states: [{ retryAfterMs: TO_NEXT_MONTH_MS }] });
  });

  // Mutation: let the lane decide past the ceiling, or charge it for what the ceiling denies.
  it('lets the lane decide between allowance and ceiling, and asks it no more past that', async () => {
    await place().judge([throttled(1, 4)]);
    expect(await place().judge([throttled(1, 4)])).toMatchObject({ status: 'allowed', states: [{ remaining: 0, lane: { remaining: 1 } }] });
    expect(await place().judge([throttled(1, 4, 2)])).toMatchObject({ status: 'denied', states: [{ retryAfterMs: 0, lane: { retryAfterMs: 500 } }] });
    place().clock.advance(1_000);
    expect(await place().judge([throttled(1, 4, 2)])).toMatchObject({ status: 'allowed', states: [{ lane: { remaining: 0 } }] });
    place().clock.advance(1_000);
    const denied = await place().judge([throttled(1, 4)]);
    expect(denied).toMatchObject({ status: 'denied', states: [{ remaining: 0, retryAfterMs: TO_NEXT_MONTH_MS - 2_000 }] });
    expect(stateOf(denied)).not.toHaveProperty('lane');
    expect(await place().judge([throttled(1, 5)])).toMatchObject({ status: 'allowed', states: [{ lane: { remaining: 1 } }] });
  });

  // Mutation: hold a tenant without an allowance to a ceiling, or let one raise what `reject` allows.
  it('knows no ceiling without an allowance, and none that helps where overage is rejected', async () => {
    expect(await place().judge([monthly(null, { overage: 'bill', ceiling: 5, cost: 9 })])).toMatchObject({ status: 'allowed' });
    expect(await place().judge([monthly(10, { ceiling: 20, cost: 2 })])).toMatchObject({ status: 'denied', states: [{ remaining: 1 }] });
    expect(await place().judge([monthly(0, { overage: 'bill', ceiling: 5 })])).toMatchObject({ status: 'denied', states: [{ retryAfterMs: 86_400_000 }] });
  });

  // Mutation: judge the second charge of a counter on what is stored.
  it('holds two charges of one call to one ceiling', async () => {
    expect(await place().judge([billed(1, 5, 3), billed(1, 5, 3)])).toMatchObject({ status: 'denied', states: [{ retryAfterMs: 0 }, { retryAfterMs: -1 }] });
    expect((await place().judge([billed(1, 5, 3), billed(1, 5, 2)])).status).toBe('allowed');
  });

  // Mutation: add a cost to a count where the sum is no longer exact.
  it('is exact up to a ceiling of 2^53-1', async () => {
    expect((await place().judge([billed(10, MAX_EXACT, MAX_EXACT - 1)])).status).toBe('allowed');
    expect(await place().judge([billed(10, MAX_EXACT, 2)])).toMatchObject({ status: 'denied', states: [{ retryAfterMs: TO_NEXT_MONTH_MS }] });
    expect(await place().judge([billed(10, MAX_EXACT - 1)])).toMatchObject({ status: 'denied', states: [{ retryAfterMs: TO_NEXT_MONTH_MS }] });
    expect((await place().judge([billed(10, MAX_EXACT)])).status).toBe('allowed');
    expect((await place().judge([billed(10, MAX_EXACT)])).status).toBe('denied');
  });

  // Mutation: hold the counter alone against the ceiling; add plus to a count past 2^53-1; let minus take a total below 0.
  it('holds the ledger\'s figures and the counter together against the ceiling', async () => {
    const { redis } = place();
    if (redis === undefined) return;
    const ledger = (plus: number, minus: number): Promise<number> => redis.hset(billed(3, 5).base, { plus, minus });
    await ledger(4, 0);
    expect(countOf(await place().judgeMany(3, [billed(3, 5)]), 'allowed')).toBe(1);
    await ledger(4, 2);
    expect(countOf(await place().judgeMany(3, [billed(3, 5)]), 'allowed')).toBe(2);
    await ledger(MAX_EXACT, 0);
    expect(await place().judge([billed(3, MAX_EXACT)])).toMatchObject({ status: 'denied', states: [{ remaining: 0, retryAfterMs: TO_NEXT_MONTH_MS }] });
    await ledger(0, MAX_EXACT);
    expect(stateOf(await place().peek([billed(3, 5)])).remaining).toBe(3);
    expect(await place().judge([billed(3, 5, 5)])).toMatchObject({ status: 'allowed', states: [{ remaining: 3 }] });
  });
});
