import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Call } from './call';
import { idempotencyKeyOf, retryChargeOf } from './idempotent-retry';

const base: Call = {
  tenant: 't', isAnonymous: false, class: { slug: 'payment', meter: 'requests', failMode: 'local', retry: { cost: 1, windowMs: 60_000, max: 3 } },
  method: 'POST', route: '/pay', cost: 10, address: '192.0.2.1', arrivedAtMs: 0,
};
const id = fc.constantFrom('a', 'b', 'user:a', '192.0.2.1');
const callers = fc.record({
  tenant: fc.constantFrom('t', 'u'), method: fc.constantFrom('POST', 'PUT'), route: fc.constantFrom('/pay', '/orders/:id'), address: fc.constantFrom('192.0.2.1', '192.0.2.2'),
  keyId: fc.option(id, { nil: undefined }), userId: fc.option(id, { nil: undefined }),
});
type Caller = typeof callers extends fc.Arbitrary<infer One> ? One : never;

/** Who somebody is, most specific first: a key whoever uses it, a user, an address. */
const whoIs = ({ keyId, userId, address }: Caller): string => JSON.stringify(keyId !== undefined ? ['key', keyId] : userId !== undefined ? ['user', userId] : ['ip', address]);

// Mutation: take one caller's Idempotency-Key for another's; leave the tenant, method or route out.
it('C037 counts the repeats of one caller, method and route alone under an Idempotency-Key', () => {
  const key = fc.constantFrom('once', 'twice');
  fc.assert(fc.property(callers, callers, key, key, (one, other, ownKey, otherKey) => {
    const [first, second] = [retryChargeOf({ ...base, ...one }, ownKey), retryChargeOf({ ...base, ...other }, otherKey)];
    const isSame = one.tenant === other.tenant && one.method === other.method && one.route === other.route && whoIs(one) === whoIs(other) && ownKey === otherKey;
    expect(first?.counter === second?.counter).toBe(isSame);
  }), { numRuns: 3_000 });
});

// Mutation: make a repeat dearer than the call.
it('asks for no repeat where the class gains nothing by it', () => {
  expect(retryChargeOf({ ...base, cost: 1 }, 'once')).toBeUndefined();
  expect(retryChargeOf({ ...base, class: { ...base.class, retry: undefined } }, 'once')).toBeUndefined();
  expect(retryChargeOf({ ...base, cost: 2 }, 'once')).toMatchObject({ repeatCost: 1, max: 3, windowMs: 60_000, cost: 0 });
});

// Mutation: take any text for a key.
it.each([['a', true], ['a b', true], ['x'.repeat(255), true], ['x'.repeat(256), false], ['', false], [' a', false], ['a ', false], ['ä', false], ['a\tb', false], ['a\u0000', false]] as const)(
  'takes %j for a key: %s', (header, isKey) => {
    expect(idempotencyKeyOf(header)).toBe(isKey ? header : undefined);
    expect(idempotencyKeyOf(undefined)).toBeUndefined();
  });
