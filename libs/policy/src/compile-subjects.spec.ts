import { subjectField, subjectPolicySchema, type Limit, type OverrideSet, type SubjectLimit } from '@quotaplane/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compile } from './compile';
import { compileSubjects, subjectScopesOf } from './compile-subjects';
import type { OverrideSource, PolicySource, TierSpan } from './source';
import { subjectSegmentAt } from './timeline';

const bucket = (name: string, scope: Limit['scope'], limit: number | null, more: Partial<Limit> = {}): Limit =>
  ({ name, algorithm: 'token-bucket', scope, limit, windowMs: 1_000, mode: 'enforce', ...more });
const span = (fromMs: number | null, slug: string, limits: Limit[]): TierSpan =>
  ({ fromMs, slug, weight: 1, versions: [{ number: 1, effectiveMs: null, content: { limits, concurrency: null, quotas: [], degraded: 'waive' } }] });
const override = (id: string, set: OverrideSet['limits'], more: Partial<OverrideSource> = {}): OverrideSource =>
  ({ id, mode: 'at-least', set: { limits: set }, fromMs: null, untilMs: null, createdMs: 0, ...more });

const FREE = span(null, 'free', [bucket('per-user', 'user', 10), bucket('per-key', 'key', 20), bucket('per-minute', 'tenant', 100)]);
const sourceOf = (subjects: Record<string, OverrideSource[]>, more: Partial<PolicySource> = {}): PolicySource => ({
  tenant: 'acme', status: 'active', revision: 1, tiers: [FREE], overrides: [], subjects: new Map(Object.entries(subjects)),
  periods: [{ id: '2026-01-01', startMs: 0, endMs: 100 }, { id: '2026-02-01', startMs: 100, endMs: 200 }], ...more,
});
const u1 = subjectField('user', 'u1');
const at = (source: PolicySource, field: string, atMs: number): readonly SubjectLimit[] | undefined => {
  const subject = compileSubjects(source).get(field);
  return subject === undefined ? undefined : subjectSegmentAt(subject, atMs)?.limits;
};

describe('compileSubjects', () => {
  it('carries final numbers of only the overridden limits of its scope, with their sources', () => {
    const source = sourceOf({ [u1]: [override('o', { 'per-user': { limit: 50 }, 'per-key': { limit: 50 }, 'per-minute': { limit: 500 }, 'gone': { limit: 1 } })] });
    expect(compileSubjects(source).get(u1)).toEqual({
      v: 1, segments: [{ fromMs: 0, untilMs: 200, limits: [{ name: 'per-user', limit: 50, burst: 50, sources: { limit: 'override:o', burst: 'override:o' } }] }],
    });
  });

  it('leaves out a subject whose overrides name nothing of its scope, and then its scope', () => {
    const source = sourceOf({ [u1]: [override('o', { 'per-key': { limit: 50 } })], [subjectField('ip', '192.0.2.1')]: [override('p', { 'per-user': { limit: 1 } })] });
    expect(compileSubjects(source).size).toBe(0);
    expect(compile(source).subjectScopes).toBeUndefined();
  });

  it('names the scopes that have any in the policy', () => {
    const source = sourceOf({ [u1]: [override('o', { 'per-user': { limit: 50 } })], [subjectField('key', 'k')]: [override('p', { 'per-key': { limit: 50 } })] });
    expect(compile(source).subjectScopes).toEqual(['key', 'user']);
    expect(subjectScopesOf(new Map())).toEqual([]);
  });

  it('has a timeline of its own, which periods do not cut', () => {
    const source = sourceOf({ [u1]: [override('o', { 'per-user': { limit: 50 } }, { fromMs: 30, untilMs: 150 })] });
    expect(compileSubjects(source).get(u1)?.segments.map(({ fromMs, untilMs, limits }) => [fromMs, untilMs, limits.length])).toEqual([[0, 30, 0], [30, 150, 1], [150, 200, 0]]);
  });

  // Mutation: sort the subject's and the tenant's overrides together by age.
  it('lets the most specific override win over a newer one of the whole tenant, and compares at-least with the tier', () => {
    const tenantWide = override('tenant', { 'per-user': { limit: 500 } }, { createdMs: 9 });
    const source = (set: OverrideSource): PolicySource => sourceOf({ [u1]: [set] }, { overrides: [tenantWide] });
    expect(at(source(override('o', { 'per-user': { limit: 50 } })), u1, 0)).toMatchObject([{ limit: 50, sources: { limit: 'override:o' } }]);
    expect(at(source(override('o', { 'per-user': { limit: 5 } })), u1, 0)).toMatchObject([{ limit: 10, sources: { limit: 'tier:free@1' } }]);
    expect(at(source(override('o', { 'per-user': { limit: 5 } }, { mode: 'exactly' })), u1, 0)).toMatchObject([{ limit: 5 }]);
  });

  it('takes a number that the subject leaves alone from the tenant', () => {
    const source = sourceOf({ [u1]: [override('o', { 'per-user': { burst: 70 } })] }, { overrides: [override('tenant', { 'per-user': { limit: 500 } })] });
    expect(at(source, u1, 0)).toEqual([{ name: 'per-user', limit: 500, burst: 70, sources: { limit: 'override:tenant', burst: 'override:o' } }]);
  });

  it('follows a tier change: compared with the new number, and gone where the new tier lacks the limit', () => {
    const tiers = [FREE, span(50, 'pro', [bucket('per-user', 'user', 80)]), span(120, 'bare', [])];
    const source = sourceOf({ [u1]: [override('o', { 'per-user': { limit: 50 } })] }, { tiers });
    expect([0, 60, 130].map((atMs) => at(source, u1, atMs)?.map(({ limit }) => limit))).toEqual([[50], [80], []]);
  });

  it('spells out the queue of a leaky bucket that follows a raise', () => {
    const tiers = [span(null, 'free', [bucket('per-user', 'user', 10, { algorithm: 'leaky-bucket' })])];
    expect(at(sourceOf({ [u1]: [override('o', { 'per-user': { limit: 50 } })] }, { tiers }), u1, 0)).toMatchObject([{ limit: 50, burst: null, maxQueue: 49 }]);
  });
});

const START = 0;
const END = 200;
const instant = fc.option(fc.integer({ min: -20, max: 220 }), { nil: null });
const number = fc.option(fc.integer({ min: 0, max: 200 }), { nil: null, freq: 8 });
const NAMES = ['per-user', 'per-key', 'per-ip', 'other'] as const;
const numbers = fc.oneof(fc.record({ limit: number }), fc.record({ burst: fc.integer({ min: 1, max: 200 }) }), fc.record({ limit: number, burst: fc.integer({ min: 1, max: 200 }) }));
const overrideArbitrary = fc.record({
  id: fc.uuid(), mode: fc.constantFrom('at-least', 'exactly'), fromMs: instant, untilMs: instant, createdMs: fc.integer({ min: 0, max: 3 }),
  set: fc.record({ limits: fc.dictionary(fc.constantFrom(...NAMES), numbers, { minKeys: 1 }) }),
});
const limitsArbitrary = fc.uniqueArray(fc.record({ name: fc.constantFrom(...NAMES), scope: fc.constantFrom('user', 'key', 'ip', 'tenant'), limit: number }), { selector: ({ name }) => name })
  .map((limits) => limits.map(({ name, scope, limit }) => bucket(name, scope as Limit['scope'], limit)));
const sourceArbitrary = fc.record({
  tiers: fc.array(fc.tuple(fc.integer({ min: -10, max: 210 }), limitsArbitrary), { maxLength: 3 }),
  first: limitsArbitrary,
  overrides: fc.array(overrideArbitrary, { maxLength: 3 }),
  subjects: fc.dictionary(fc.constantFrom('user:a', 'key:b', 'ip:192.0.2.1'), fc.array(overrideArbitrary, { minLength: 1, maxLength: 3 })),
}).map(({ tiers, first, overrides, subjects }) => sourceOf(subjects as Record<string, OverrideSource[]>, {
  overrides: overrides as OverrideSource[],
  tiers: [span(null, 'tier-0', first), ...tiers.sort(([left], [right]) => left - right).map(([fromMs, limits], index) => span(fromMs, `tier-${index + 1}`, limits))],
}));

/** What the words say, at one instant, without segments: by another way than the code takes. */
function naiveLimits(source: PolicySource, field: string, atMs: number): Record<string, { limit: number | null; burst: number | null }> {
  const inForce = (rows: readonly OverrideSource[]): OverrideSource[] => rows
    .filter((row) => (row.fromMs === null || row.fromMs <= atMs) && (row.untilMs === null || atMs < row.untilMs))
    .sort((a, b) => b.createdMs - a.createdMs || Number(b.mode === 'exactly') - Number(a.mode === 'exactly') || (a.id < b.id ? 1 : -1));
  const tier = source.tiers.filter(({ fromMs }) => fromMs === null || fromMs <= atMs).at(-1);
  const own = inForce(source.subjects?.get(field) ?? []);
  const found: Record<string, { limit: number | null; burst: number | null }> = {};
  for (const limit of tier?.versions[0]?.content.limits ?? []) {
    const names = (row: OverrideSource) => row.set.limits?.[limit.name];
    if (limit.scope !== field.split(':')[0] || !own.some((row) => names(row) !== undefined)) continue;
    const all = [...own, ...inForce(source.overrides)];
    const larger = (a: number | null, b: number | null): boolean => (a ?? Infinity) > (b ?? Infinity);
    const decide = (base: number | null, deciding: OverrideSource | undefined, value: number | null | undefined): number | null =>
      deciding !== undefined && value !== undefined && (deciding.mode === 'exactly' || larger(value, base)) ? value : base;
    const ofLimit = all.find((row) => names(row)?.limit !== undefined);
    const value = decide(limit.limit, ofLimit, ofLimit && names(ofLimit)?.limit);
    if (value === null) {
      found[limit.name] = { limit: null, burst: null };
      continue;
    }
    const ofBurst = all.find((row) => names(row) !== undefined);
    const named = ofBurst && names(ofBurst);
    const overtaken = named?.limit !== undefined && ofBurst?.mode === 'at-least' && !larger(named.limit, limit.limit);
    const burst = typeof named?.burst === 'number' ? named.burst : overtaken ? limit.limit : named?.limit;
    found[limit.name] = { limit: value, burst: decide(limit.limit, ofBurst, burst) ?? value };
  }
  return found;
}

// Mutations: scope not compared; tenant overrides first; `<=` at an end; neighbours merged though they differ.
it('agrees with a naive evaluator at every instant of random sources', () => {
  fc.assert(fc.property(sourceArbitrary, (source) => {
    const compiled = compileSubjects(source);
    for (const field of source.subjects?.keys() ?? []) {
      const subject = compiled.get(field);
      if (subject !== undefined) expectSound(subjectPolicySchema.parse(subject).segments);
      for (let atMs = START; atMs < END; atMs += 1) {
        const limits = subject === undefined ? [] : (subjectSegmentAt(subject, atMs)?.limits ?? []);
        expect(Object.fromEntries(limits.map(({ name, limit, burst }) => [name, { limit, burst }]))).toEqual(naiveLimits(source, field, atMs));
      }
    }
    expect(compile(source).subjectScopes ?? []).toEqual([...new Set([...compiled.keys()].map((field) => field.split(':')[0]))].sort());
  }), { numRuns: 200 });
});

function expectSound(segments: readonly { fromMs: number; untilMs: number; limits: unknown }[]): void {
  expect([segments[0]?.fromMs, segments.at(-1)?.untilMs]).toEqual([START, END]);
  segments.slice(1).forEach((segment, index) => {
    expect(segment.fromMs).toBe(segments[index]?.untilMs);
    expect(segment.limits).not.toEqual(segments[index]?.limits);
  });
}
