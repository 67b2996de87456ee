import * as testing from '@quotaplane/testing';
import { expect, it } from 'vitest';
import { countOf } from './rig/connected';
import { describeOnEveryStore } from './rig/every-store';
import { bucketOf, KINDS, MINUTE_MS, queueOf, rateOf, stateOf, type RateKind } from './rig/rates';

/** Remaining after an edit of a limit of 10 of which 6 are used; a bucket's burst follows its limit. */
const REMAINING: readonly (readonly [kind: RateKind, limit: number, remaining: number])[] = KINDS.flatMap((kind) => [
  [kind, 15, 9], [kind, 11, 5], [kind, 8, 2], [kind, 6, 0], [kind, 1, 0],
] as const);

/** Row by row the table of changes in mid-window (semantics of the product); quotas have theirs beside their own suite. */
describeOnEveryStore('P11 a limit changed in mid-window', testing, (place) => {
  const remainingOf = async (kind: RateKind, limit: number): Promise<number> => stateOf(await place().peek([rateOf(kind, limit)])).remaining;

  // Mutation: hold the units against the limit they were admitted under; leave out the floor at 0.
  it.each(REMAINING)('P11 counts what is used against the limit in force: %s, from 10 to %i', async (kind, limit, remaining) => {
    await place().judge([{ ...rateOf(kind, 10), cost: 6 }]);
    expect(await remainingOf(kind, limit)).toBe(remaining);
    expect((await place().judge([{ ...rateOf(kind, limit), cost: remaining + 1 }])).status).toBe('denied');
    if (remaining > 0) expect((await place().judge([{ ...rateOf(kind, limit), cost: remaining }])).status).toBe('allowed');
    expect(await remainingOf(kind, limit)).toBe(0);
  });

  // Mutation: keep denying by the old value, or admit more than the new one.
  it.each(KINDS)('C049 P11 a raise counts at once, and for the difference only: %s', async (kind) => {
    expect(countOf(await place().judgeMany(50, [rateOf(kind, 10)]), 'allowed')).toBe(10);
    expect(countOf(await place().judgeMany(50, [rateOf(kind, 20)]), 'allowed')).toBe(10);
  });

  // Mutation: drain with the limit of the last admission.
  it.each([['bucket', 20, 3_000], ['bucket', 5, 12_000], ['queue', 20, 3_000], ['queue', 5, 12_000]] as const)(
    'P11 keeps the debt and drains it by the limit in force: %s, from 10 to %i', async (kind, limit, waitMs) => {
      const [before, after] = kind === 'bucket' ? [bucketOf('x', 10, MINUTE_MS, 10), bucketOf('x', limit, MINUTE_MS, 10)] : [queueOf('x', 10, MINUTE_MS, 10), queueOf('x', limit, MINUTE_MS, 10)];
      await place().judgeMany(10, [before]);
      expect(await place().judge([after])).toMatchObject({ status: 'denied', states: [{ remaining: 0, retryAfterMs: waitMs }] });
      place().clock.advance(waitMs);
      expect((await place().judge([after])).status).toBe('allowed');
    });

  // Mutation: clamp the debt to the capacity in force.
  it.each([[12, 6], [10, 4], [7, 1], [3, 0]] as const)('P11 a burst of %i leaves room for what is not owed', async (burst, remaining) => {
    await place().judge([{ ...bucketOf('burst', 10, MINUTE_MS, 10), cost: 6 }]);
    expect(stateOf(await place().peek([bucketOf('burst', 10, MINUTE_MS, burst)])).remaining).toBe(remaining);
  });

  // Mutation: schedule the queued calls anew after an edit; or queue new ones at the old rate.
  it.each([[20, [6_000, 9_000, 12_000]], [5, [6_000, 18_000, 30_000]]] as const)(
    'P11 queued departures keep their times, new ones follow the new rate of %i', async (limit, waits) => {
      await place().judge([queueOf('q', 10, MINUTE_MS, 10)]);
      const verdicts = await place().judgeMany(3, [queueOf('q', limit, MINUTE_MS, 10)]);
      expect(verdicts.map((verdict) => stateOf(verdict).waitMs)).toEqual(waits);
    });

  // Mutation: drop the counter at limit 0; or count nothing against a limit that comes back.
  it.each(KINDS)('P11 denies all at 0 and keeps the counter: %s', async (kind) => {
    await place().judge([{ ...rateOf(kind, 10), cost: 6 }]);
    const closed = rateOf(kind, 0);
    expect(await place().judge([closed])).toMatchObject({ status: 'denied', states: [{ remaining: 0 }] });
    expect((await place().judge([{ ...closed, cost: 0 }])).status).toBe('denied');
    expect(await remainingOf(kind, 10)).toBe(4);
  });

  // Mutation: charge what has no limit.
  it.each(KINDS)('P11 without a limit all passes, and the counter is there when one comes back: %s', async (kind) => {
    await place().judge([{ ...rateOf(kind, 10), cost: 6 }]);
    expect(countOf(await place().judgeMany(30, []), 'allowed')).toBe(30);
    expect(await remainingOf(kind, 10)).toBe(4);
  });

  // Mutation: leave the window out of the counter's name.
  it.each(KINDS)('P11 another window is another counter: %s', async (kind) => {
    await place().judge([{ ...rateOf(kind, 10), cost: 10 }]);
    expect(stateOf(await place().judge([rateOf(kind, 10, 2 * MINUTE_MS)])).remaining).toBe(9);
  });
});
