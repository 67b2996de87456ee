import * as testing from '@quotaplane/testing';
import { expect, it } from 'vitest';
import { admitted } from './admitted';
import { describeOnEveryStore } from './rig/every-store';
import { DAY_START_MS, KINDS, MINUTE_MS, rateOf, stateOf } from './rig/rates';

describeOnEveryStore('edges of segments and windows', testing, (place) => {
  // Mutation: take a segment's end for a part of it; or spend outside of it.
  it.each(KINDS)('judges nothing from a segment\'s end on, and all until a ms before it: %s', async (kind) => {
    expect(await place().judge([rateOf(kind, 10)], DAY_START_MS + 1)).toMatchObject({ status: 'allowed', states: [{ remaining: 9 }] });
    place().clock.advance(1);
    expect(await place().judge([rateOf(kind, 10)], DAY_START_MS + 1)).toEqual({ status: 'outside', nowMs: DAY_START_MS + 1 });
    expect((await place().judge([rateOf(kind, 10)], DAY_START_MS)).status).toBe('outside');
    expect(stateOf(await place().peek([rateOf(kind, 10)])).remaining).toBe(9);
  });

  // Mutation: refund to whatever window runs.
  it.each(['epoch', 'first-hit', 'log'] as const)('P02 gives nothing back to a window that was not charged: %s', async (kind) => {
    const charges = [{ ...rateOf(kind, 10), cost: 4 }];
    const verdict = await place().judge(charges);
    if (verdict.status !== 'allowed') throw new TypeError('not admitted');
    place().clock.advance(MINUTE_MS);
    await place().judge([{ ...rateOf(kind, 10), cost: 3 }]);
    await place().refund(admitted(charges, verdict));
    expect(stateOf(await place().peek(charges)).remaining).toBe(7);
  });

  // Mutation: refund the older window of a sliding counter to the running one, or not at all.
  it('P02 gives units back to the older window of a sliding counter while it is inside', async () => {
    const charges = [{ ...rateOf('counter', 10), cost: 4 }];
    const verdict = await place().judge(charges);
    if (verdict.status !== 'allowed') throw new TypeError('not admitted');
    place().clock.advance(MINUTE_MS);
    await place().judge([{ ...rateOf('counter', 10), cost: 3 }]);
    expect(stateOf(await place().peek(charges)).remaining).toBe(3);
    await place().refund(admitted(charges, verdict));
    expect(stateOf(await place().peek(charges)).remaining).toBe(7);
    place().clock.advance(MINUTE_MS);
    expect(stateOf(await place().peek(charges)).remaining).toBe(7);
  });
});
