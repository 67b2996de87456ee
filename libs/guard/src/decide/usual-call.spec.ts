import { describe, expect, it } from 'vitest';
import { callOf } from '../specs/decision-rig';
import { limitOf, policyOf, type PolicyParts } from '../specs/policies';
import type { Call } from './call';
import { planOf } from './call-plan';
import { KnownPolicies, type KnownPolicy } from './known-policy';
import { usualFor, usualShapeOf } from './usual-call';

const knownOf = (parts: PolicyParts = {}): KnownPolicy => {
  const policies = { get: () => ({ kind: 'policy' as const, head: '1.1', policy: policyOf(parts), isStale: false }) };
  const known = new KnownPolicies(policies, { fallback: () => undefined }).of('hobby');
  if (!known) throw new TypeError('no policy');
  return known;
};
const segmentOf = ({ policy }: KnownPolicy): KnownPolicy['policy']['segments'][number] => {
  const [segment] = policy.segments;
  if (!segment) throw new TypeError('no segment');
  return segment;
};
const judged = (known: KnownPolicy, call: Call): void => void usualShapeOf(planOf(segmentOf(known), call), call, known);

describe('what the last call of a tenant was judged by', () => {
  // Mutation: let it stand at the very end of its segment, or before its beginning.
  it('M2 stands within its segment only, which begins with its first ms and ends before its last', () => {
    const known = knownOf();
    const call = callOf();
    const { fromMs, untilMs } = segmentOf(known);
    expect(usualFor(known, call, fromMs)).toBeUndefined();
    judged(known, call);
    const found = [fromMs - 1, fromMs, untilMs - 1, untilMs].map((atMs) => usualFor(known, call, atMs) !== undefined);
    expect(found).toEqual([false, true, true, false]);
  });

  // Mutation: leave class, method, cost or the missing credentials out of the comparison.
  it.each<[string, Partial<Call>]>([
    ['class', { class: { slug: 'default', meter: 'exports', failMode: 'local' } }],
    ['method', { method: 'POST' }],
    ['cost', { cost: 2 }],
    ['caller without credentials', { isAnonymous: true }],
  ])('is not what a call of another %s is judged by', (_, parts) => {
    const known = knownOf();
    const call = callOf();
    const { fromMs } = segmentOf(known);
    judged(known, call);
    expect(usualFor(known, { ...call, userId: 'another' }, fromMs)?.shape.cost).toBe(1);
    expect(usualFor(known, { ...call, ...parts }, fromMs)).toBeUndefined();
  });

  // Mutation: remember a call whose limits, or whose overrides, look at more than its tenant.
  it.each<[string, PolicyParts, Partial<Call>]>([
    ['a limit by user', { limits: [limitOf({ scope: 'user' })] }, { userId: 'u' }],
    ['a limit by route', { limits: [limitOf({ perRoute: true })] }, {}],
    ['overrides of its keys', { subjectScopes: ['key'] }, { keyId: 'k' }],
    ['callers without credentials', {}, { isAnonymous: true }],
  ])('is not remembered for a tenant with %s', (_, parts, caller) => {
    const known = knownOf(parts);
    const call = callOf(caller);
    judged(known, call);
    // Whoever calls next: a caller without credentials would not find it anyway.
    expect(known.usual).toBeUndefined();
  });
});

describe('the policy that a reader hangs on an entry of the cache', () => {
  // Mutation: take whatever memo the entry has; keep the fallback policy's part after the catalogue has brought a new one.
  it('is its own where several readers read it, and a new one with each fallback policy', () => {
    const entry = { kind: 'unknown' as const, head: 'unknown', isStale: false };
    let fallback = policyOf();
    const readers = [1, 2].map(() => new KnownPolicies({ get: () => entry }, { fallback: () => fallback }));
    const read = (): (KnownPolicy | undefined)[] => readers.map((reader) => reader.of('hobby'));
    const first = read();
    expect(first[0]).not.toBe(first[1]);
    expect(read()).toEqual(first);
    read().forEach((known, at) => expect(known).toBe(first[at]));
    fallback = policyOf({ revision: 2 });
    read().forEach((known) => expect(known?.policy).toBe(fallback));
  });
});
