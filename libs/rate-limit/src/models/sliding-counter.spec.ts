import { MAX_EXACT } from '@quotaplane/contracts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { judgeSlidingCounter, type SlidingCounterState } from './sliding-counter';

/** A figure where off-by-one shows, and at the edge of what stays exact. P14's boundaries. */
const figure = (most: number): fc.Arbitrary<number> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 12 }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: most }) },
    { weight: 2, arbitrary: fc.integer({ min: Math.max(0, most - 2), max: most }) },
    { weight: 1, arbitrary: fc.integer({ min: -1, max: 1 }).map((off) => Math.floor(most / 2) + off).filter((value) => value >= 0) },
  );

const around = (nowMs: number): Parameters<typeof judgeSlidingCounter>[3] => ({ nowMs, segmentLeftMs: 1, claimed: 0 });

// Mutation: floor in place of ceil in `weighed` or for floor in `waitFor`; multiply before holding back.
it('P01 P14 passes exactly by its formula, and waits for the first ms that does, up to 2^53-1', () => {
  const input = fc.constantFrom(1, 7, 1_000, 60_000, 86_400_000).chain((windowMs) => {
    const most = Math.floor(MAX_EXACT / windowMs);
    return fc.record({
      windowMs: fc.constant(windowMs), limit: figure(most), cost: figure(most), previous: figure(most), current: figure(most), elapsedMs: figure(windowMs - 1),
    });
  });
  fc.assert(
    fc.property(input, ({ windowMs, limit, cost, previous, current, elapsedMs }) => {
      fc.pre(limit > 0 && cost > 0 && cost <= limit);
      const startMs = windowMs * Math.ceil(1_764_500_000_000 / windowMs);
      const state: SlidingCounterState = { previous, current, startMs };
      const passesAt = (atMs: number): boolean => {
        const [older, newer] = atMs < startMs + windowMs ? [previous, current] : atMs < startMs + 2 * windowMs ? [current, 0] : [0, 0];
        const leftMs = BigInt(windowMs - (atMs % windowMs));
        return BigInt(older) * leftMs + (BigInt(newer) + BigInt(cost)) * BigInt(windowMs) <= BigInt(limit) * BigInt(windowMs);
      };
      const { retryAfterMs } = judgeSlidingCounter(state, { limit, windowMs }, cost, around(startMs + elapsedMs));
      expect(retryAfterMs === 0).toBe(passesAt(startMs + elapsedMs));
      expect(passesAt(startMs + elapsedMs + retryAfterMs)).toBe(true);
      if (retryAfterMs > 0) expect(passesAt(startMs + elapsedMs + retryAfterMs - 1)).toBe(false);
    }),
    { numRuns: 20_000 },
  );
});

const step = fc.record({ afterMs: fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 250 })), cost: fc.integer({ min: 1, max: 8 }) });

// Mutation: weigh the older window by what has elapsed; forget it at the window's edge.
it('P01 admits fewer than twice its limit in any window in a row', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.constantFrom(7, 100), fc.array(step, { maxLength: 120 }), (limit, windowMs, steps) => {
      let state: SlidingCounterState | undefined;
      let nowMs = 1_000_000;
      const admissions: { readonly atMs: number; readonly cost: number }[] = [];
      for (const { afterMs, cost } of steps) {
        nowMs += afterMs;
        const judgement = judgeSlidingCounter(state, { limit, windowMs }, cost, around(nowMs));
        if (judgement.retryAfterMs !== 0) continue;
        state = judgement.state;
        admissions.push({ atMs: nowMs, cost });
      }
      for (const { atMs: fromMs } of admissions) {
        const inside = admissions.filter(({ atMs }) => atMs >= fromMs && atMs < fromMs + windowMs).reduce((sum, { cost }) => sum + cost, 0);
        expect(inside).toBeLessThan(2 * limit);
      }
    }),
    { numRuns: 3_000 },
  );
});

// Mutation: weigh the older window by more than what is left of it.
it('P01 comes within a unit of that bound: all in the last ms of a window, then each unit as soon as it passes', () => {
  const rule = { limit: 20, windowMs: 100 };
  let state: SlidingCounterState | undefined;
  let admittedUnits = 0;
  for (let nowMs = 1_000_099; nowMs < 1_000_199; nowMs += 1) {
    for (let judgement = judgeSlidingCounter(state, rule, 1, around(nowMs)); judgement.retryAfterMs === 0; judgement = judgeSlidingCounter(state, rule, 1, around(nowMs))) {
      state = judgement.state;
      admittedUnits += 1;
    }
  }
  expect(admittedUnits).toBe(2 * rule.limit - 1);
});
