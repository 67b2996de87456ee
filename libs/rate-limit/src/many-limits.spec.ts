import * as testing from '@quotaplane/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { countOf } from './rig/connected';
import { describeOnEveryStore } from './rig/every-store';
import { KINDS, rateOf, stateOf } from './rig/rates';
import type { RateCharge, Verdict } from './store';

describeOnEveryStore('many limits', testing, (place) => {
  let run = 0;

  // Mutation: keep the numbers, or the counter, of the first limit of a kind.
  it('C086 judges each of many limits by its own numbers, however their calls are mixed', async () => {
    const limit = fc.record({ kind: fc.constantFrom(...KINDS), limit: fc.integer({ min: 1, max: 12 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(limit, { minLength: 2, maxLength: 5 }), fc.array(fc.nat(), { minLength: 10, maxLength: 60 }), async (limits, picks) => {
        run += 1;
        const charges = limits.map(({ kind, limit: most }, at): RateCharge => ({ ...rateOf(kind, most), counter: `qp:{t}:c:mixed-${run}-${at}` }));
        const places = picks.map((pick) => pick % charges.length);
        const verdicts = await Promise.all(places.map((at): Promise<Verdict> => place().judge([charges[at]!])));
        for (const [at, charge] of charges.entries()) {
          const own = verdicts.filter((_, call) => places[call] === at);
          expect(countOf(own, 'allowed')).toBe(Math.min(own.length, charge.limit));
        }
      }),
      { numRuns: 25 },
    );
  });

  // Mutation: charge what passes though another charge of the call denies; or charge a denial.
  it('C062 C063 P02 moves no counter of a call that any of its limits denies, whatever their kinds and costs', async () => {
    const charge = fc.record({ kind: fc.constantFrom(...KINDS), limit: fc.integer({ min: 0, max: 10 }), cost: fc.integer({ min: 0, max: 12 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(charge, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 8 }), async (calls) => {
        run += 1;
        const limits = new Map<string, RateCharge>();
        for (const parts of calls) {
          const charges = parts.map(({ kind, limit, cost }, at): RateCharge => ({ ...rateOf(kind, limit), counter: `qp:{t}:c:none-${run}-${kind}-${at}`, cost }));
          for (const one of charges) limits.set(one.counter, one);
          const looks = (): Promise<number[]> => Promise.all(charges.map(async (one) => stateOf(await place().peek([one])).remaining));
          const before = await looks();
          const verdict = await place().judge(charges);
          const after = await looks();
          expect(after).toEqual(verdict.status === 'allowed' ? before.map((left, at) => left - charges[at]!.cost) : before);
        }
      }),
      { numRuns: 25 },
    );
  });
});
