import { MAX_EXACT } from '@quotaplane/contracts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { judgeQueue, type QueueRule, type QueueState } from './queue';

const around = (nowMs: number): Parameters<typeof judgeQueue>[3] => ({ nowMs, segmentLeftMs: 1, claimed: 0 });

const rule = fc.constantFrom(1, 7, 1_000, 60_000).chain((windowMs) =>
  fc.record<QueueRule>({
    windowMs: fc.constant(windowMs), limit: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: Math.floor(MAX_EXACT / windowMs) })),
    capacity: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 0, max: 3 }).map((below) => Math.floor(MAX_EXACT / windowMs) - below)),
    maxWaitMs: fc.constantFrom(0, 1, 333, 5_000, MAX_EXACT),
  }));

const step = fc.record({ afterMs: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 5_000 })), cost: fc.integer({ min: 1, max: 4 }) });

/** An instant as a fraction: in `limit`-ths of a ms. */
const ceilOf = (parts: bigint, limit: bigint): bigint => (parts + limit - 1n) / limit;

// Mutation: round the outflow's instant to whole ms; schedule from now; let a wait of maxWaitMs + 1 pass; floor a wait.
it('P01 P14 lets the outflow be constant, and each call depart at its exact turn, rounded up', () => {
  fc.assert(
    fc.property(rule, fc.array(step, { minLength: 1, maxLength: 60 }), (each, steps) => {
      const [limit, window, capacity] = [BigInt(each.limit), BigInt(each.windowMs), BigInt(each.capacity)];
      let state: QueueState | undefined;
      let nowMs = 1_764_500_000_000;
      let free = 0n;
      const departures: { readonly atMs: number; readonly cost: number }[] = [];
      for (const { afterMs, cost } of steps) {
        nowMs += afterMs;
        const now = BigInt(nowMs) * limit;
        const departs = free > now ? free : now;
        // Under one limit the debt is what stands between now and the free outflow.
        const fits = departs - now + BigInt(cost) * window <= capacity * window;
        const isPatient = ceilOf(departs - now, limit) <= BigInt(each.maxWaitMs);
        const judgement = judgeQueue(state, each, cost, around(nowMs));
        expect(judgement.retryAfterMs === 0).toBe(fits && isPatient);
        if (judgement.retryAfterMs !== 0) continue;
        state = judgement.state;
        free = departs + BigInt(cost) * window;
        expect(BigInt(nowMs + (judgement.waitMs ?? NaN))).toBe(ceilOf(departs, limit));
        departures.push({ atMs: nowMs + (judgement.waitMs ?? NaN), cost });
      }
      departures.slice(1).forEach(({ atMs }, at) => {
        const before = departures[at];
        // What left before takes the outflow for cost x windowMs / limit; rounding may take off less than a ms.
        if (before !== undefined) expect(BigInt(atMs - before.atMs + 1) * limit).toBeGreaterThan(BigInt(before.cost) * window);
      });
    }),
    { numRuns: 4_000 },
  );
});

// Mutation: answer the smaller one of what the room and the patience need.
it('P03 waits exactly as long as room and patience both need', () => {
  let denials = 0;
  fc.assert(
    fc.property(rule, fc.array(step, { minLength: 1, maxLength: 40 }), (each, steps) => {
      let state: QueueState | undefined;
      let nowMs = 1_764_500_000_000;
      for (const { afterMs, cost } of steps) {
        nowMs += afterMs;
        const { retryAfterMs, state: next } = judgeQueue(state, each, cost, around(nowMs));
        if (retryAfterMs === 0) state = next;
        if (retryAfterMs <= 0) continue;
        denials += 1;
        expect(judgeQueue(state, each, cost, around(nowMs + retryAfterMs - 1)).retryAfterMs).toBe(1);
        expect(judgeQueue(state, each, cost, around(nowMs + retryAfterMs)).retryAfterMs).toBe(0);
      }
    }),
    { numRuns: 2_000 },
  );
  expect(denials).toBeGreaterThan(1_000);
});

// Mutation: keep the rest in parts of the old limit after an edit; or re-time those that are queued.
it('P11 keeps departures in order and apart across edits of the limit', () => {
  const edited = fc.record({ afterMs: fc.integer({ min: 0, max: 400 }), limit: fc.integer({ min: 1, max: 40 }) });
  fc.assert(
    fc.property(fc.array(edited, { minLength: 2, maxLength: 40 }), (steps) => {
      let state: QueueState | undefined;
      let nowMs = 1_764_500_000_000;
      let [lastMs, gapMs] = [-Infinity, 0];
      for (const { afterMs, limit } of steps) {
        nowMs += afterMs;
        const judgement = judgeQueue(state, { limit, windowMs: 1_000, capacity: 50, maxWaitMs: 60_000 }, 1, around(nowMs));
        if (judgement.retryAfterMs !== 0) continue;
        state = judgement.state;
        const departsAtMs = nowMs + (judgement.waitMs ?? NaN);
        // The call before holds the outflow at the rate it was queued under.
        expect(departsAtMs - lastMs).toBeGreaterThan(gapMs - 1);
        [lastMs, gapMs] = [departsAtMs, 1_000 / limit];
      }
    }),
    { numRuns: 2_000 },
  );
});
