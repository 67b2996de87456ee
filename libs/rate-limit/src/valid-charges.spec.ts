import fc from 'fast-check';
import { expect, it } from 'vitest';
import { KINDS, quotaOf, rateOf } from './rig/rates';
import type { Charge } from './store';
import { InvalidChargeError, requireValidCharges } from './valid-charges';

/** What arithmetic of a caller may come to that is no figure. */
const noFigure = fc.oneof(
  fc.constantFrom(NaN, Infinity, -Infinity, -1, 0.5, 1.5, -0.1, 2 ** 53, 2 ** 53 + 2, 1e300, Number.MIN_VALUE),
  fc.double({ noNaN: true }).filter((value) => !Number.isSafeInteger(value) || value < 0),
);
const figure = fc.oneof(fc.constantFrom(0, 1, Number.MAX_SAFE_INTEGER), fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }));
const charges = fc.constantFrom<Charge>(...KINDS.map((kind) => rateOf(kind, 10)), quotaOf(10), { ...quotaOf(10), overage: 'bill', ceiling: 20 }, { ...quotaOf(10), lane: { kind: 'bucket', counter: 'lane', limit: 1, windowMs: 1_000, capacity: 1, cost: 1 } });

const FIELDS = ['cost', 'limit', 'windowMs', 'capacity', 'maxWaitMs', 'allowance', 'ceiling', 'periodEndMs'] as const;
const fieldsOf = (charge: Charge): string[] => FIELDS.filter((field) => typeof (charge as unknown as Record<string, unknown>)[field] === 'number');
const withField = (charge: Charge, field: string, value: number): Charge => ({ ...charge, [field]: value });

// Mutation: leave a field unchecked; take fractions, or what is above 2^53-1.
it('C044 C045 C047 P14 refuses every field that is no whole number of 0 to 2^53-1, by its name', () => {
  fc.assert(fc.property(charges, fc.nat(), noFigure, (charge, pick, value) => {
    const fields = fieldsOf(charge);
    const field = fields[pick % fields.length] ?? 'cost';
    let thrown: unknown;
    try {
      requireValidCharges([charge, withField(charge, field, value)]);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(InvalidChargeError);
    expect(thrown).toMatchObject({ field, value });
  }), { numRuns: 1_000 });
});

// Mutation: refuse a cost of 0, or the largest figure that is exact.
it('C044 P14 takes every cost and period that is one, the bounds too', () => {
  fc.assert(fc.property(charges, fc.constantFrom('cost', 'periodEndMs'), figure, (charge, field, value) => {
    if (fieldsOf(charge).includes(field)) expect(() => requireValidCharges([withField(charge, field, value)])).not.toThrow();
  }));
});

// Mutation: compare the ceiling with 0 alone.
it('refuses a ceiling below the allowance, which would take units that the plan names', () => {
  const billed = { ...quotaOf(10), overage: 'bill', ceiling: 10 } as const;
  expect(() => requireValidCharges([billed, { ...billed, allowance: null, ceiling: 0 }])).not.toThrow();
  expect(() => requireValidCharges([{ ...billed, ceiling: 9 }])).toThrow('ceiling of counter qp:{t}:q:requests:2026-12-01:1:1 must be a whole number within 10 .. 2^53-1, not 9');
});
