import fc from 'fast-check';
import { expect, it } from 'vitest';
import { judgeLog, logFigures, type LogState } from './log';

const around = (nowMs: number): Parameters<typeof judgeLog>[3] => ({ nowMs, segmentLeftMs: 1, claimed: 0 });
const step = fc.record({ afterMs: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 150 })), cost: fc.integer({ min: 1, max: 6 }) });

// Mutation: count an entry while its age is windowMs too; forget the units that expired in one of the drops.
it('P01 admits its limit in any window in a row, exactly, and waits for the first ms that has room', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), fc.constantFrom(1, 7, 100), fc.array(step, { maxLength: 120 }), (limit, windowMs, steps) => {
      let state: LogState | undefined;
      let nowMs = 1_000_000;
      const admissions: { readonly atMs: number; readonly cost: number }[] = [];
      const usedAt = (ms: number): number => admissions.filter(({ atMs }) => ms - atMs < windowMs).reduce((sum, { cost }) => sum + cost, 0);
      for (const { afterMs, cost } of steps) {
        nowMs += afterMs;
        const { retryAfterMs, state: next } = judgeLog(state, { limit, windowMs }, cost, around(nowMs));
        expect(retryAfterMs === 0).toBe(usedAt(nowMs) + cost <= limit);
        if (retryAfterMs > 0) {
          expect(usedAt(nowMs + retryAfterMs) + cost).toBeLessThanOrEqual(limit);
          expect(usedAt(nowMs + retryAfterMs - 1) + cost).toBeGreaterThan(limit);
        }
        if (retryAfterMs !== 0) continue;
        state = next;
        admissions.push({ atMs: nowMs, cost });
        const { figures } = logFigures(state, { limit, windowMs }, around(nowMs));
        expect(figures).toEqual({ remaining: limit - usedAt(nowMs), resetAfterMs: windowMs, moreAfterMs: expect.any(Number) as unknown });
        expect(usedAt(nowMs + figures.moreAfterMs)).toBeLessThan(usedAt(nowMs));
        expect(usedAt(nowMs + figures.moreAfterMs - 1)).toBe(usedAt(nowMs));
      }
      // One entry a ms, and none that expired before the last admission.
      const times = state?.entries.map(({ timeMs }) => timeMs) ?? [];
      expect(new Set(times).size).toBe(times.length);
      expect(times.length).toBeLessThanOrEqual(Math.min(limit, windowMs));
    }),
    { numRuns: 3_000 },
  );
});
