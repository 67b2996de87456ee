import fc from 'fast-check';
import { expect, it } from 'vitest';
import { counterKey, quotaKeys } from './counter-key';
import type { CounterName } from './store';

const slug = fc.stringMatching(/^[a-z0-9-]{1,63}$/);
const text = fc.oneof(
  fc.string({ maxLength: 300 }), fc.string({ unit: 'binary', maxLength: 200 }), fc.stringMatching(/^[a:%{}~/-]{0,6}$/), fc.constantFrom('', 'a:b', 'a', 'b:c', '~', '\ud800', '\udfff'),
);
const name: fc.Arbitrary<CounterName> = fc.record({
  tenant: fc.oneof(slug, fc.constantFrom('anonymous', 'global', 't')),
  limit: fc.oneof(slug, fc.constantFrom('per-minute', 'l')),
  algorithm: fc.constantFrom('token-bucket', 'gcra', 'fixed-window'),
  windowMs: fc.oneof(fc.constantFrom(1, 1_000, 60_000), fc.integer({ min: 1, max: 86_400_000 })),
  scope: fc.oneof(fc.constantFrom('tenant', 'user', 'key', 'ip', 'global'), slug.map((subject) => `subject:${subject}` as const)),
  subject: text,
  narrow: text,
});

/** What a counter is: the scopes that count everyone alike have no subject. */
const meaningOf = (one: CounterName): string => {
  const isAnonymous = one.tenant === 'anonymous' && one.scope !== 'global';
  const subject = one.scope === 'global' || (one.scope === 'tenant' && !isAnonymous) ? '' : one.subject;
  return JSON.stringify([one.scope === 'global' ? '' : one.tenant, one.limit, one.algorithm, one.windowMs, one.scope, subject, one.narrow ?? '']);
};

it('P06 keeps every key within 200 bytes', () => {
  fc.assert(fc.property(name, (one) => void expect(Buffer.byteLength(counterKey(one))).toBeLessThanOrEqual(200)), { numRuns: 3_000 });
  fc.assert(
    fc.property(slug, slug, fc.integer({ min: 1, max: 999 }), (tenant, meter, part) => {
      const { counter, base } = quotaKeys({ tenant, meter, periodId: '2026-12-01', part, generation: Number.MAX_SAFE_INTEGER });
      expect(Math.max(Buffer.byteLength(counter), Buffer.byteLength(base))).toBeLessThanOrEqual(200);
    }),
  );
});

// Mutation: paste the subject without encodeURIComponent.
it('C036 gives different counters different keys, whatever the parts contain', () => {
  fc.assert(
    fc.property(name, fc.oneof(name, fc.constant(undefined)), text, text, (one, other, subject, narrow) => {
      const rival = other ?? { ...one, subject, narrow };
      fc.pre(meaningOf(one) !== meaningOf(rival));
      expect(counterKey(one)).not.toBe(counterKey(rival));
    }),
    { numRuns: 5_000 },
  );
});

// Mutation: join the parts without encoding them.
it('C036 keeps subject a:b in class c apart from subject a in class b:c', () => {
  const of = (subject: string, narrow: string): string =>
    counterKey({ tenant: 't', limit: 'l', algorithm: 'gcra', windowMs: 1_000, scope: 'user', subject, narrow });
  expect(of('a:b', 'c')).not.toBe(of('a', 'b:c'));
  expect(of('a', '')).not.toBe(of('', 'a'));
});

// Mutation: leave '~' as it is in an encoded part.
it('C036 takes no subject for the hash of another one', () => {
  const of = (subject: string): string => counterKey({ tenant: 't', limit: 'l', algorithm: 'gcra', windowMs: 1_000, scope: 'user', subject });
  const long = of('x'.repeat(100));
  expect(of(long.split(':')[7] ?? '')).not.toBe(long);
  expect(of('\ud800')).not.toBe(of('\udfff'));
});

it('has exactly one hash tag, the first braces of the key', () => {
  fc.assert(fc.property(name, (one) => void expect(counterKey(one)).toMatch(/^qp:\{[^{}]+\}:[^{}]*$/)), { numRuns: 2_000 });
});
