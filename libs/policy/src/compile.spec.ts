import { policySchema, type Limit, type OverrideSet, type Segment, type TierContent } from '@quotaplane/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compile } from './compile';
import type { OverrideSource, PolicySource, TierSpan } from './source';
import { PolicySourceError } from './store-errors';
import { segmentAt } from './timeline';

const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 0, 1);
const periods = [0, 1, 2].map((index) => ({ id: `2026-0${index + 1}-01`, startMs: START_MS + index * 30 * DAY_MS, endMs: START_MS + (index + 1) * 30 * DAY_MS }));
const END_MS = START_MS + 90 * DAY_MS;

const bucket = (limit: number | null, burst?: number): Limit => ({
  name: 'per-minute', algorithm: 'token-bucket', scope: 'tenant', limit, windowMs: 60_000, mode: 'enforce', ...(burst === undefined ? {} : { burst }),
});
const content = (limits: Limit[], more: Partial<TierContent> = {}): TierContent => ({ limits, concurrency: 10, quotas: [], degraded: 'waive', ...more });
const span = (tierContent: TierContent, more: Partial<TierSpan> = {}): TierSpan => ({
  fromMs: null, slug: 'free', weight: 1, versions: [{ number: 3, effectiveMs: null, content: tierContent }], ...more,
});
const override = (set: OverrideSet, more: Partial<OverrideSource> = {}): OverrideSource => ({
  id: 'o1', mode: 'at-least', set, fromMs: null, untilMs: null, createdMs: 1, ...more,
});
const source = (more: Partial<PolicySource>): PolicySource => ({
  tenant: 'hobby', status: 'active', revision: 7, tiers: [span(content([bucket(100, 20)]))], overrides: [], periods, ...more,
});
const numbersAt = (from: PolicySource, atMs = START_MS): unknown => {
  const limit = segmentAt(compile(from), atMs)?.limits[0];
  return limit && { limit: limit.limit, burst: limit.burst, sources: limit.sources };
};
const perMinute = (numbers: { limit?: number | null; burst?: number | null }): OverrideSet => ({ limits: { 'per-minute': numbers } });

describe('numbers of a limit', () => {
  it('names the tier version for both numbers, with the capacity spelled out', () => {
    expect(numbersAt(source({}))).toEqual({ limit: 100, burst: 20, sources: { limit: 'tier:free@3', burst: 'tier:free@3' } });
    expect(numbersAt(source({ tiers: [span(content([bucket(100)]))] }))).toMatchObject({ burst: 100 });
  });

  it('takes the capacity along where a raise leaves the burst out', () => {
    expect(numbersAt(source({ overrides: [override(perMinute({ limit: 500 }))] })))
      .toEqual({ limit: 500, burst: 500, sources: { limit: 'override:o1', burst: 'override:o1' } });
  });

  it('leaves the limit to the tier where only the burst is raised', () => {
    expect(numbersAt(source({ overrides: [override(perMinute({ burst: 60 }))] })))
      .toEqual({ limit: 100, burst: 60, sources: { limit: 'tier:free@3', burst: 'override:o1' } });
  });

  it('never undoes an upgrade with at-least, neither in the limit nor in the capacity', () => {
    const upgraded = [span(content([bucket(1_000, 200)]), { slug: 'pro' })];
    expect(numbersAt(source({ tiers: upgraded, overrides: [override(perMinute({ limit: 500 }))] })))
      .toEqual({ limit: 1_000, burst: 200, sources: { limit: 'tier:pro@3', burst: 'tier:pro@3' } });
  });

  it('holds exactly also below the tier, with its capacity', () => {
    expect(numbersAt(source({ overrides: [override(perMinute({ limit: 5 }), { mode: 'exactly' })] }))).toMatchObject({ limit: 5, burst: 5 });
    expect(numbersAt(source({ overrides: [override(perMinute({ limit: 0 }), { mode: 'exactly' })] }))).toMatchObject({ limit: 0, burst: 0 });
  });

  it('counts null as the largest number, and has no capacity then', () => {
    expect(numbersAt(source({ overrides: [override(perMinute({ limit: null }))] })))
      .toEqual({ limit: null, burst: null, sources: { limit: 'override:o1', burst: 'override:o1' } });
    const unlimited = [span(content([bucket(null)]))];
    expect(numbersAt(source({ tiers: unlimited, overrides: [override(perMinute({ limit: 500 }))] }))).toMatchObject({ limit: null, burst: null });
    expect(numbersAt(source({ tiers: unlimited, overrides: [override(perMinute({ limit: 500 }), { mode: 'exactly' })] }))).toMatchObject({ limit: 500, burst: 500 });
  });

  it('lets the newest override decide, whatever its mode', () => {
    const old = override(perMinute({ limit: 5 }), { id: 'old', mode: 'exactly', createdMs: 1 });
    const raise = override(perMinute({ limit: 300 }), { id: 'new', createdMs: 2 });
    expect(numbersAt(source({ overrides: [raise, old] }))).toMatchObject({ limit: 300, sources: { limit: 'override:new' } });
    expect(numbersAt(source({ overrides: [old, { ...raise, createdMs: 0 }] }))).toMatchObject({ limit: 5, sources: { limit: 'override:old' } });
    // A tie is settled by mode, then id, never by the order of rows.
    for (const overrides of [[old, { ...raise, createdMs: 1 }], [{ ...raise, createdMs: 1 }, old]]) expect(numbersAt(source({ overrides }))).toMatchObject({ limit: 5 });
  });

  it('joins the limit of one override with a newer burst of another', () => {
    const overrides = [override(perMinute({ limit: 500 })), override(perMinute({ burst: 50 }), { id: 'o2', mode: 'exactly', createdMs: 2 })];
    expect(numbersAt(source({ overrides }))).toEqual({ limit: 500, burst: 50, sources: { limit: 'override:o1', burst: 'override:o2' } });
  });

  // Mutation: effectiveLimit without largestFit.
  it('caps the limit where a later tier version took an algorithm that holds less', () => {
    const limitAt = (more: Partial<Limit>): unknown => numbersAt(source({ tiers: [span(content([{ ...bucket(100), ...more }]))], overrides: [override(perMinute({ limit: 2 ** 53 - 1 }))] }));
    expect(limitAt({ algorithm: 'sliding-log' })).toMatchObject({ limit: 10_000, burst: null });
    const largest = Math.floor((2 ** 53 - 1) / 60_000);
    for (const algorithm of ['sliding-counter', 'leaky-bucket'] as const) expect(limitAt({ algorithm })).toMatchObject({ limit: largest });
    expect(limitAt({ algorithm: 'fixed-window' })).toMatchObject({ limit: 2 ** 53 - 1 });
  });

  it('caps the capacity at what stays exact when a later tier version widens the window', () => {
    const wide = [span(content([{ ...bucket(100), windowMs: DAY_MS }]))];
    expect(numbersAt(source({ tiers: wide, overrides: [override(perMinute({ limit: Number.MAX_SAFE_INTEGER }))] })))
      .toMatchObject({ burst: Math.floor(Number.MAX_SAFE_INTEGER / DAY_MS) });
  });
});

describe('timeline', () => {
  it('starts and ends an override at its instants', () => {
    const [fromMs, untilMs] = [START_MS + 5 * DAY_MS, START_MS + 6 * DAY_MS];
    const from = source({ overrides: [override(perMinute({ limit: 500 }), { fromMs, untilMs })] });
    expect([fromMs - 1, fromMs, untilMs - 1, untilMs].map((atMs) => segmentAt(compile(from), atMs)?.limits[0]?.limit)).toEqual([100, 500, 500, 100]);
  });

  it('brings versions and tiers into force at their instants, the later row where two share one', () => {
    const atMs = START_MS + 10 * DAY_MS;
    const versions = [1, 2, 3].map((number) => ({ number, effectiveMs: number === 1 ? null : atMs, content: content([bucket(number)]) }));
    const tiers = [span(content([]), { versions }), span(content([bucket(9)]), { fromMs: atMs + DAY_MS, slug: 'pro' })];
    const policy = compile(source({ tiers }));
    expect([atMs - 1, atMs, atMs + DAY_MS].map((at) => segmentAt(policy, at)?.limits[0]?.limit)).toEqual([1, 3, 9]);
  });

  it('gives a tier without a version in force no limits, from version 0', () => {
    const [segment] = compile(source({ tiers: [span(content([]), { versions: [] })] })).segments;
    expect(segment).toMatchObject({ tierVersion: 0, limits: [], quotas: [], concurrency: { limit: null, source: 'default' } });
  });

  it('has one segment a period when nothing else changes', () => {
    const same = override(perMinute({ limit: 50 }), { fromMs: START_MS + DAY_MS, untilMs: START_MS + 2 * DAY_MS });
    expect(compile(source({ overrides: [same] })).segments.map(({ fromMs, period }) => [fromMs, period.id])).toEqual(periods.map(({ startMs, id }) => [startMs, id]));
  });

  it('overrides concurrency and allowances and leaves the throttle lane alone', () => {
    const throttle = { limit: 100, windowMs: 60_000 };
    const tiers = [span(content([], { quotas: [{ meter: 'requests', allowance: 1_000, overage: 'throttle', throttle, alertAt: [] }] }))];
    const overrides = [override({ concurrency: 50, quotas: { requests: { allowance: null } } })];
    expect(compile(source({ tiers, overrides })).segments[0]).toMatchObject({
      concurrency: { limit: 50, source: 'override:o1' },
      quotas: [{ meter: 'requests', allowance: null, throttle, sources: { allowance: 'override:o1' } }],
    });
  });

  it('refuses a source without tier or period', () => {
    expect(() => compile(source({ tiers: [] }))).toThrow(PolicySourceError);
    expect(() => compile(source({ periods: [] }))).toThrow(PolicySourceError);
  });

  it('finds no segment before the first or past the last', () => {
    const policy = compile(source({}));
    expect([START_MS - 1, END_MS].map((atMs) => segmentAt(policy, atMs))).toEqual([undefined, undefined]);
  });
});

const instant = fc.option(fc.integer({ min: -5, max: 95 }).map((day) => START_MS + day * DAY_MS), { nil: null });
const units = fc.option(fc.integer({ min: 0, max: 1_000 }), { nil: null });
const anySet: fc.Arbitrary<OverrideSet> = fc.record({
  limits: fc.dictionary(fc.constantFrom('per-minute', 'window', 'gone'), fc.oneof(
    fc.record({ limit: units }), fc.record({ burst: fc.integer({ min: 1, max: 1_000 }) }), fc.record({ limit: units, burst: fc.integer({ min: 1, max: 1_000 }) }),
  )),
  concurrency: units,
}, { requiredKeys: [] });
const anyOverride: fc.Arbitrary<OverrideSource> = fc.record({
  id: fc.uuid(), mode: fc.constantFrom('at-least', 'exactly'), set: anySet, fromMs: instant, untilMs: instant, createdMs: fc.integer({ min: 0, max: 5 }),
});
const anyTier = (slug: string): fc.Arbitrary<TierSpan> => fc.record({
  fromMs: instant, slug: fc.constant(slug), weight: fc.constant(1),
  versions: fc.array(fc.record({
    number: fc.integer({ min: 1, max: 9 }), effectiveMs: instant,
    content: fc.tuple(units, fc.integer({ min: 1, max: 1_000 }), fc.boolean()).map(([limit, burst, hasBurst]) =>
      content([bucket(limit, hasBurst ? burst : undefined), { ...bucket(limit), name: 'window', algorithm: 'fixed-window' }], { concurrency: limit })),
  }), { maxLength: 3 }),
});
const anySource = fc.tuple(anyTier('free'), anyTier('pro'), fc.array(anyOverride, { maxLength: 5 }))
  .map(([free, pro, overrides]) => source({ tiers: [free, pro], overrides }));

/** Another hand's evaluation at one instant: sorts everything and takes the last. */
function naiveAt(from: PolicySource, atMs: number): { version: number; limits: [string, number | null, number | null][]; concurrency: number | null } {
  const startOf = (ms: number | null): number => ms ?? -Infinity;
  const lastInForce = <Row>(rows: readonly Row[], fromOf: (row: Row) => number | null): Row | undefined =>
    rows.filter((row) => startOf(fromOf(row)) <= atMs).map((row, index) => ({ row, index }))
      .sort((a, b) => startOf(fromOf(a.row)) - startOf(fromOf(b.row)) || a.index - b.index || 0).at(-1)?.row;
  const tier = lastInForce(from.tiers, (row) => row.fromMs) ?? from.tiers[0];
  const version = lastInForce(tier?.versions ?? [], (row) => row.effectiveMs);
  const active = from.overrides.filter((row) => startOf(row.fromMs) <= atMs && atMs < (row.untilMs ?? Infinity))
    .sort((a, b) => a.createdMs - b.createdMs || Number(a.mode === 'exactly') - Number(b.mode === 'exactly') || (a.id < b.id ? -1 : 1));
  const max = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : Math.max(a, b));
  const decide = (base: number | null, named: { mode: string; value: number | null }[]): number | null => {
    const last = named.at(-1);
    return last === undefined ? base : last.mode === 'exactly' ? last.value : max(base, last.value);
  };
  const limits = (version?.content.limits ?? []).map((limit): [string, number | null, number | null] => {
    const entries = active.flatMap(({ mode, set }) => (Object.hasOwn(set.limits ?? {}, limit.name) ? [{ mode, ...set.limits?.[limit.name] }] : []));
    const value = decide(limit.limit, entries.flatMap(({ mode, limit: own }) => (own === undefined ? [] : [{ mode, value: own }])));
    if (value === null || limit.algorithm === 'fixed-window') return [limit.name, value, null];
    const capacity = limit.burst ?? limit.limit;
    const bursts = entries.map((entry) => {
      const isOvertaken = entry.mode === 'at-least' && entry.limit !== undefined && max(limit.limit, entry.limit) === limit.limit;
      return { mode: entry.mode, value: entry.burst ?? (isOvertaken ? capacity : (entry.limit ?? null)) };
    });
    return [limit.name, value, decide(capacity, bursts) ?? value];
  });
  const concurrency = decide(version?.content.concurrency ?? null, active.flatMap(({ mode, set }) => (set.concurrency === undefined ? [] : [{ mode, value: set.concurrency }])));
  return { version: version?.number ?? 0, limits, concurrency };
}
const figuresOf = (segment: Segment | undefined): unknown => segment && {
  version: segment.tierVersion, limits: segment.limits.map(({ name, limit, burst }) => [name, limit, burst]), concurrency: segment.concurrency.limit,
};

describe('for every source', () => {
  it('gives segments that are sorted, contiguous, cover the range and pass the schema', () => {
    fc.assert(fc.property(anySource, (from) => {
      const policy = compile(from);
      policySchema.parse(JSON.parse(JSON.stringify(policy)));
      expect(policy.segments[0]?.fromMs).toBe(START_MS);
      expect(policy.segments.at(-1)?.untilMs).toBe(END_MS);
      policy.segments.forEach((segment, index) => {
        expect(segment.fromMs).toBeLessThan(segment.untilMs);
        const next = policy.segments[index + 1];
        if (next === undefined) return;
        expect(next.fromMs).toBe(segment.untilMs);
        expect({ ...next, fromMs: 0, untilMs: 0 }).not.toEqual({ ...segment, fromMs: 0, untilMs: 0 });
      });
    }));
  });

  it('holds at every instant what a naive evaluation at that instant gives', () => {
    fc.assert(fc.property(anySource, fc.integer({ min: 0, max: 89 }), fc.constantFrom(0, 1, DAY_MS - 1), (from, day, offsetMs) => {
      const atMs = START_MS + day * DAY_MS + offsetMs;
      expect(figuresOf(segmentAt(compile(from), atMs))).toEqual(naiveAt(from, atMs));
    }), { numRuns: 500 });
  });

  it('changes nothing outside the span of one more override', () => {
    fc.assert(fc.property(anySource, anyOverride, fc.integer({ min: 0, max: 89 }), (from, extra, day) => {
      const atMs = START_MS + day * DAY_MS;
      fc.pre(atMs < (extra.fromMs ?? -Infinity) || atMs >= (extra.untilMs ?? Infinity));
      const added = compile({ ...from, overrides: [...from.overrides, extra] });
      expect({ ...segmentAt(added, atMs), fromMs: 0, untilMs: 0 }).toEqual({ ...segmentAt(compile(from), atMs), fromMs: 0, untilMs: 0 });
    }), { numRuns: 500 });
  });
});
