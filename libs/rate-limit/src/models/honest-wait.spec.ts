import { TestClock } from '@quotaplane/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ModelRedis } from '../rig/model-redis';
import { histories, START_MS } from '../rig/random-histories';
import { slidingHistories } from '../rig/sliding-histories';
import type { Check, RateCharge, Verdict } from '../store';

/** Rates only, each window on counters of its own, as real keys are; limits of 0 advertise a hint and quotas their period's end. */
const ratesOf = (check: Check): Check => ({
  ...check,
  untilMs: Number.MAX_SAFE_INTEGER,
  charges: check.charges.flatMap((charge): RateCharge[] => {
    if (charge.kind === 'quota' || charge.kind === 'slot' || charge.kind === 'retry' || charge.limit === 0 || ('capacity' in charge && charge.capacity === 0)) return [];
    return [{ ...charge, counter: `${charge.kind}:${charge.windowMs}:${charge.kind === 'window' ? charge.alignment : ''}` }];
  }),
});

const waitsOf = (verdict: Verdict): number[] => ('states' in verdict ? verdict.states.map((state) => state.retryAfterMs) : []);

/** No wait is followed past this, so that the clock itself stays exact. */
const END_MS = Number.MAX_SAFE_INTEGER / 2;

// Mutation: ignore the units that earlier charges of the check want on the same counter.
it('P03 passes a lone client that waits as told, however many limits deny it', () => {
  let denials = 0;
  fc.assert(
    fc.property(fc.oneof(histories, slidingHistories), (steps) => {
      const clock = new TestClock(START_MS);
      const model = new ModelRedis(clock.now);
      for (const step of steps) {
        if (step.step === 'clock') clock.advance(Math.max(0, step.byMs));
        if (step.step !== 'checks') continue;
        for (const check of step.checks.map(ratesOf)) {
          const verdict = model.judge(check, clock.now());
          const waits = waitsOf(verdict);
          const longestMs = Math.max(0, ...waits);
          if (verdict.status !== 'denied' || waits.includes(-1) || clock.now() + longestMs > END_MS) continue;
          denials += 1;
          clock.advance(longestMs);
          expect(model.judge(check, clock.now()).status).toBe('allowed');
        }
      }
    }),
    { numRuns: 4_000 },
  );
  // The property would hold for nothing if nothing were denied.
  expect(denials).toBeGreaterThan(1_000);
});

// Mutation: round a wait up once more than needed.
it('P03 never advertises a ms too many', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 50 }), (limit, windowMs, capacity, cost) => {
      fc.pre(cost <= capacity);
      const clock = new TestClock(START_MS);
      const model = new ModelRedis(clock.now);
      const check: Check = {
        tenant: 't', knownHead: '', fromMs: 0, untilMs: Number.MAX_SAFE_INTEGER, subjectFields: [],
        charges: [{ kind: 'bucket', counter: 'b', limit, windowMs, capacity, cost }],
      };
      while (model.judge(check, clock.now()).status === 'allowed');
      const [waitMs = 0] = waitsOf(model.judge(check, clock.now()));
      expect(model.judge(check, clock.now() + waitMs - 1).status).toBe('denied');
      expect(model.judge(check, clock.now() + waitMs).status).toBe('allowed');
    }),
  );
});
