import { routes, type RouteContract } from '@quotaplane/contracts';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { fieldErrorsOf } from './field-errors';
import { sentencesFor } from './input-sentences';

/** Pointer and sentence of each fault. */
function faults(schema: z.ZodType, value: unknown): [string, string][] {
  const { error } = schema.safeParse(value, { error: sentencesFor(schema) });
  return error ? fieldErrorsOf(error, '').map(({ pointer, detail }) => [pointer, detail]) : [];
}
const faultOf = (type: z.ZodType, value: unknown): string | undefined => faults(z.strictObject({ field: type }), { field: value })[0]?.[1];

// Mutation: parse without the map, and zod's own words come through.
it.each([
  [z.string(), undefined, 'is required'],
  [z.enum(['a', 'b']), undefined, 'is required'],
  [z.union([z.literal('now'), z.iso.datetime()]), undefined, 'is required'],
  [z.iso.datetime({ offset: true }), '2026-11-30', 'must be an instant such as 2026-11-30T00:00:00Z'],
  [z.union([z.enum(['now', 'period-end']), z.iso.datetime()]), 5, 'must be one of now, period-end, or must be an instant such as 2026-11-30T00:00:00Z'],
  [z.coerce.number().int().min(1).max(200).default(50), 'abc', 'must be a whole number from 1 to 200'],
  [z.int().min(0).max(10).nullable(), 1.5, 'must be a whole number from 0 to 10'],
  [z.int().min(0).max(10).optional(), 11, 'must be a whole number from 0 to 10'],
  [z.record(z.string(), z.int()), [], 'must be an object'],
  [z.string().min(1), '', 'must not be empty'],
  [z.string().min(3), 'a', 'must have at least 3 characters'],
  [z.array(z.string()).max(1), ['a', 'b'], 'must have at most 1 entry'],
  [z.string().regex(/^\d+$/), 'x', String.raw`must match \d+`],
  [z.string().regex(/^\d+$/, 'must be digits'), 'x', 'must be digits'],
  [z.enum(['a', 'b']), 'c', 'must be one of a, b'],
] as const)('says what a field must be (%#)', (type, value, sentence) => {
  expect(faultOf(type, value)).toBe(sentence);
});

it('names the kinds there are, and one that is missing', () => {
  const schema = z.discriminatedUnion('kind', [z.strictObject({ kind: z.literal('tenant') }), z.strictObject({ kind: z.literal('user') })]);
  expect(faults(schema, { kind: 'x' })).toEqual([['/kind', 'must be one of tenant, user']]);
  expect(faults(schema, {})).toEqual([['/kind', 'is required']]);
});

it('says one thing about a field that misses several bounds', () => {
  expect(faults(z.strictObject({ a: z.int().min(0).max(9) }), { a: 2 ** 60 })).toEqual([['/a', 'must be a whole number from 0 to 9']]);
});

it('has words of its own for whatever the contract refuses', () => {
  for (const contract of Object.values<RouteContract>(routes)) {
    for (const schema of [contract.params, contract.query, contract.body]) {
      if (!(schema instanceof z.ZodObject)) continue;
      for (const value of [undefined, null, true, -1, 1.5, 2 ** 60, '', 'x', 'X'.repeat(9_999), [], {}]) {
        const all = faults(schema, Object.fromEntries(Object.keys(schema.shape).map((name) => [name, value])));
        for (const [, sentence] of all) expect(sentence).not.toMatch(/^(Invalid|Too |Unrecognized|Expected)|received|is invalid$/);
      }
    }
  }
});
