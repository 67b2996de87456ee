import { policySchema, type CompiledPeriod, type CompiledQuota, type OverrideSet, type Quota, type TierContent } from '@quotaplane/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compile, quotasAt } from './compile';
import type { OverrideSource, PolicySource, QuotaChange, QuotaExtra, TierSpan, UsageTransfer } from './source';
import { segmentAt } from './timeline';

const DAY_MS = 86_400_000;
const MAX = Number.MAX_SAFE_INTEGER;
/** Four periods of ten days. */
const periods: CompiledPeriod[] = [0, 1, 2, 3].map((index) => ({ id: `2026-01-${String(index * 10 + 1).padStart(2, '0')}`, startMs: index * 10 * DAY_MS, endMs: (index + 1) * 10 * DAY_MS }));

const quota = (allowance: number | null, more: Partial<Quota> = {}): Quota => ({ meter: 'requests', allowance, overage: 'reject', alertAt: [], ...more });
const content = (...quotas: Quota[]): TierContent => ({ limits: [], concurrency: null, quotas, degraded: 'waive' });
const span = (fromMs: number | null, slug: string, ...quotas: Quota[]): TierSpan =>
  ({ fromMs, slug, weight: 1, versions: [{ number: 1, effectiveMs: null, content: content(...quotas) }] });
const moved = (day: number, usage: UsageTransfer, allowance: number | null, isImmediate = false): QuotaChange =>
  ({ atMs: day * DAY_MS, isImmediate, usage, quotas: [{ meter: 'requests', allowance }] });
const extra = (units: number, fromMs: number | null, untilMs: number | null, source = 'top-up:t1'): QuotaExtra => ({ meter: 'requests', units, source, fromMs, untilMs });
const override = (allowance: number | null, more: Partial<OverrideSource> = {}): OverrideSource =>
  ({ id: 'o1', mode: 'at-least', set: { quotas: { requests: { allowance } } }, fromMs: null, untilMs: null, createdMs: 1, ...more });
const source = (more: Partial<PolicySource>): PolicySource =>
  ({ tenant: 'acme', status: 'active', revision: 1, tiers: [span(null, 'free', quota(1_000))], overrides: [], periods, ...more });
const at = (from: PolicySource, atMs: number): CompiledQuota | undefined => segmentAt(compile(from), atMs)?.quotas[0];

/** A tenant's moves with the tier spans that belong to them; the first was made long ago. */
function movedSource(first: number | null, moves: readonly (readonly [day: number, usage: UsageTransfer, allowance: number | null])[], more: Partial<PolicySource> = {}): PolicySource {
  const tiers = moves.map(([day, , allowance], index) => span(day * DAY_MS, `tier-${index}`, quota(allowance)));
  return source({
    tiers: [span(null, 'first', quota(first)), ...tiers],
    quotaChanges: [moved(-100, 'carry', first), ...moves.map((move) => moved(...move))],
    ...more,
  });
}

describe('tier changes within a period', () => {
  const cases: { name: string; first: number | null; moves: [number, UsageTransfer, number | null][]; day: number; part: number; allowance: number | null }[] = [
    { name: 'carry takes the new number as it is', first: 1_000, moves: [[4, 'carry', 5_000]], day: 4, part: 1, allowance: 5_000 },
    { name: 'prorate weighs both by their days', first: 1_000, moves: [[4, 'prorate', 5_000]], day: 4, part: 1, allowance: 400 + 3_000 },
    { name: 'prorate changes nothing before its instant', first: 1_000, moves: [[4, 'prorate', 5_000]], day: 3.9, part: 1, allowance: 1_000 },
    { name: 'prorate downwards', first: 5_000, moves: [[4, 'prorate', 1_000]], day: 9, part: 1, allowance: 2_000 + 600 },
    { name: 'prorate rounds down, once', first: 1, moves: [[3, 'prorate', 2], [6, 'prorate', 1]], day: 7, part: 1, allowance: 1 },
    { name: 'two that prorate', first: 100, moves: [[2, 'prorate', 200], [5, 'prorate', 1_000]], day: 5, part: 1, allowance: 20 + 60 + 500 },
    { name: 'the next period has the whole allowance', first: 100, moves: [[2, 'prorate', 200], [5, 'prorate', 1_000]], day: 10, part: 1, allowance: 1_000 },
    { name: 'restart opens the next part with the whole allowance', first: 100, moves: [[5, 'restart', 1_000]], day: 5, part: 2, allowance: 1_000 },
    { name: 'parts end with their period', first: 100, moves: [[5, 'restart', 1_000]], day: 10, part: 1, allowance: 1_000 },
    { name: 'carry, then prorate: the first span is weighed from the period\'s start', first: 100, moves: [[2, 'carry', 200], [5, 'prorate', 1_000]], day: 6, part: 1, allowance: 100 + 500 },
    { name: 'carry, prorate, restart', first: 100, moves: [[2, 'carry', 200], [5, 'prorate', 1_000], [8, 'restart', 300]], day: 9, part: 2, allowance: 300 },
    { name: 'restart, then prorate stays in the part', first: 100, moves: [[2, 'restart', 200], [5, 'prorate', 1_000]], day: 6, part: 2, allowance: 100 + 500 },
    { name: 'two restarts', first: 100, moves: [[2, 'restart', 200], [5, 'restart', 100]], day: 6, part: 3, allowance: 100 },
    { name: 'prorate, then carry takes the number as it is', first: 100, moves: [[2, 'prorate', 200], [5, 'carry', 700]], day: 6, part: 1, allowance: 700 },
    { name: 'prorate from an unlimited tier', first: null, moves: [[4, 'prorate', 5_000]], day: 4, part: 1, allowance: 5_000 },
    { name: 'prorate to an unlimited tier', first: 1_000, moves: [[4, 'prorate', null]], day: 4, part: 1, allowance: null },
    { name: 'prorate by way of an unlimited tier', first: 1_000, moves: [[2, 'prorate', null], [4, 'prorate', 5_000]], day: 4, part: 1, allowance: 5_000 },
    { name: 'restart exactly at the period\'s start', first: 100, moves: [[10, 'restart', 1_000]], day: 10, part: 1, allowance: 1_000 },
    { name: 'prorate exactly at the period\'s start', first: 100, moves: [[10, 'prorate', 1_000]], day: 10, part: 1, allowance: 1_000 },
    { name: 'nothing of the next period\'s first move in the last ms of this one', first: 100, moves: [[10, 'restart', 1_000]], day: 10 - 1 / DAY_MS, part: 1, allowance: 100 },
    { name: 'prorate of what a move at the period\'s start gave', first: 100, moves: [[10, 'restart', 1_000], [15, 'prorate', 2_000]], day: 16, part: 1, allowance: 1_500 },
    { name: '2^53-1 stays exact', first: MAX, moves: [[3, 'prorate', MAX]], day: 5, part: 1, allowance: MAX },
  ];
  // Mutations: areSameMoves without the part; chain kept over a carry; weighed in floating point; `>=` for the period's start.
  it.each(cases)('$name', ({ first, moves, day, part, allowance }) => {
    const from = movedSource(first, moves);
    const segment = segmentAt(compile(from), day * DAY_MS);
    expect([segment?.part, segment?.quotas[0]?.allowance]).toEqual([part, allowance]);
    expect(quotasAt(from, day * DAY_MS)).toMatchObject({ part, quotas: [{ allowance }] });
  });

  it('counts a change that was in force when written for all of its period, and for no other', () => {
    const from = source({ tiers: [span(null, 'pro', quota(5_000))], quotaChanges: [moved(-100, 'carry', 1_000), moved(14, 'restart', 3_000, true), moved(18, 'prorate', 5_000, true)] });
    expect(compile(from).segments.map(({ part, quotas }) => [part, quotas[0]?.allowance])).toEqual([[1, 5_000], [2, 0.8 * 3_000 + 0.2 * 5_000], [1, 5_000], [1, 5_000]]);
  });

  // Mutations: areSameMoves without `before`; no boundary at a change that has no tier span of its own.
  it('holds in each segment what counts at each of its instants, also where a change that was in force when written follows a dated one', () => {
    const quotaChanges = [moved(-100, 'carry', 1_000), moved(12, 'carry', 3_000), moved(15, 'prorate', 5_000, true)];
    const from = source({ tiers: [span(null, 'pro', quota(5_000))], quotaChanges });
    expect([11, 12].map((day) => at(from, day * DAY_MS)?.allowance)).toEqual([3_000, 4_000]);
    expect(quotasAt(from, 12 * DAY_MS - 1).quotas[0]?.allowance).toBe(3_000);
  });

  it('takes the new number as it is where the tier before had no such meter, or is not known', () => {
    const tiers = [span(null, 'pro', quota(5_000))];
    const other = { ...moved(-100, 'carry', 1_000), quotas: [{ meter: 'exports', allowance: 1 }] };
    for (const quotaChanges of [[other, moved(14, 'prorate', 5_000)], [moved(14, 'prorate', 5_000)]]) {
      expect(at(source({ tiers, quotaChanges }), 15 * DAY_MS)?.allowance).toBe(5_000);
    }
  });

  it('lets a version published after the change count for the running stretch', () => {
    const versions = [1, 2].map((number) => ({ number, effectiveMs: number === 1 ? null : 6 * DAY_MS, content: content(quota(number * 1_000)) }));
    const from = source({ tiers: [span(null, 'free', quota(0)), { ...span(4 * DAY_MS, 'pro'), versions }], quotaChanges: [moved(-100, 'carry', 0), moved(4, 'prorate', 1_000)] });
    expect([4, 6].map((day) => at(from, day * DAY_MS)?.allowance)).toEqual([600, 1_200]);
  });

  it('weighs by real hours where clocks change within the period', () => {
    // March 2026 in New York has 743 hours; the change comes at local midnight of the 16th, 359 hours in (the lost hour is in the first half).
    const [startMs, changeMs, endMs] = ['2026-03-01T05:00:00Z', '2026-03-16T04:00:00Z', '2026-04-01T04:00:00Z'].map((instant) => Date.parse(instant));
    const march = { id: '2026-03-01', startMs: startMs ?? 0, endMs: endMs ?? 0 };
    const change: QuotaChange = { atMs: changeMs ?? 0, isImmediate: true, usage: 'prorate', quotas: [{ meter: 'requests', allowance: 743_000 }] };
    const from = source({ periods: [march], tiers: [span(null, 'pro', quota(743_000))], quotaChanges: [moved(0, 'carry', 0), change] });
    expect(at(from, march.startMs)?.allowance).toBe((743 - 359) * 1_000);
  });
});

describe('overrides on a prorated number', () => {
  const prorated = (more: Partial<OverrideSource>, allowance: number | null): CompiledQuota | undefined =>
    at(movedSource(1_000, [[5, 'prorate', 5_000]], { overrides: [override(allowance, more)], quotaExtras: [extra(7, null, null)] }), 6 * DAY_MS);

  it.each<[string, number | null, Partial<OverrideSource>, number | null, string]>([
    ['at-least below it leaves it', 2_000, {}, 3_007, 'tier:tier-0@1'],
    ['at-least is compared with it, not with the tier\'s whole number', 4_000, {}, 4_007, 'override:o1'],
    ['exactly holds below it, extras on top', 10, { mode: 'exactly' }, 17, 'override:o1'],
    ['unlimited stays unlimited', null, {}, null, 'override:o1'],
  ])('%s', (_, allowance, more, expected, from) => {
    expect(prorated(more, allowance)).toMatchObject({ allowance: expected, sources: { allowance: from } });
  });
});

describe('extras', () => {
  // Mutation: extrasAt with `fromMs < atMs`, or summing an extra per segment it touches.
  it('C056 gives a top-up of 100 dated exactly at the period\'s start there, once', () => {
    const startMs = periods[1]?.startMs ?? 0;
    const from = source({ quotaExtras: [extra(100, startMs, null)] });
    expect([startMs - 1, startMs, startMs + 1, startMs + 9 * DAY_MS].map((atMs) => at(from, atMs)?.allowance)).toEqual([1_000, 1_100, 1_100, 1_100]);
    expect(at(from, startMs)?.extras).toEqual([{ source: 'top-up:t1', units: 100 }]);
    expect(compile(from).segments.map(({ fromMs }) => fromMs)).toEqual(periods.map((period) => period.startMs));
  });

  it('ends one in mid-period at its instant', () => {
    const from = source({ quotaExtras: [extra(100, 2 * DAY_MS, 6 * DAY_MS), extra(5, null, 10 * DAY_MS, 'carry:2025-12-22')] });
    expect([2 * DAY_MS - 1, 2 * DAY_MS, 6 * DAY_MS - 1, 6 * DAY_MS, 10 * DAY_MS].map((atMs) => at(from, atMs)?.allowance)).toEqual([1_005, 1_105, 1_105, 1_005, 1_000]);
    expect(at(from, 3 * DAY_MS)?.extras).toEqual([{ source: 'top-up:t1', units: 100 }, { source: 'carry:2025-12-22', units: 5 }]);
    expect(at(from, 10 * DAY_MS)).not.toHaveProperty('extras');
  });

  it('adds to its own meter alone, nothing to an unlimited one, and names no empty one', () => {
    const tiers = [span(null, 'free', quota(null), quota(10, { meter: 'exports' }))];
    const quotaExtras = [extra(5, null, null), { ...extra(7, null, null, 'top-up:t2'), meter: 'exports' }, { ...extra(0, null, null, 'carry:x'), meter: 'exports' }];
    expect(quotasAt(source({ tiers, quotaExtras }), 0).quotas.map(({ allowance, extras }) => [allowance, extras])).toEqual([[null, undefined], [17, [{ source: 'top-up:t2', units: 7 }]]]);
  });

  it('moves the ceiling up by the extras, never below the allowance, and drops it with the allowance', () => {
    const tiers = [span(null, 'free', quota(1_000, { overage: 'bill', ceiling: 1_500 }))];
    const ceilingOf = (more: Partial<PolicySource>): unknown => at(source({ tiers, ...more }), 0)?.ceiling;
    expect(ceilingOf({})).toBe(1_500);
    expect(ceilingOf({ quotaExtras: [extra(100, null, null)] })).toBe(1_600);
    expect(ceilingOf({ overrides: [override(9_000)], quotaExtras: [extra(100, null, null)] })).toBe(9_100);
    expect(ceilingOf({ overrides: [override(null)] })).toBeUndefined();
  });

  it('ends a sum at 2^53-1', () => {
    const tiers = [span(null, 'free', quota(MAX - 1, { overage: 'bill', ceiling: MAX }))];
    expect(at(source({ tiers, quotaExtras: [extra(MAX, null, null), extra(MAX, null, null, 'top-up:t2')] }), 0)).toMatchObject({ allowance: MAX, ceiling: MAX });
  });
});

const units = fc.oneof(fc.constantFrom(null, 0, 1, MAX - 1, MAX), fc.integer({ min: 0, max: 5_000 }));
const instant = fc.option(fc.integer({ min: -5, max: 45 }).map((day) => day * DAY_MS), { nil: null });
const anyMove = fc.tuple(fc.oneof(fc.integer({ min: 0, max: 40 }), fc.double({ min: 0, max: 40, noNaN: true })), fc.constantFrom<UsageTransfer>('carry', 'prorate', 'restart'), units, fc.boolean());
const anyExtra: fc.Arbitrary<QuotaExtra> = fc.record({
  meter: fc.constantFrom('requests', 'exports'), units: fc.oneof(fc.integer({ min: 0, max: 99 }), fc.constant(MAX)), source: fc.constantFrom('top-up:a', 'carry:b'), fromMs: instant, untilMs: instant,
});
const anyOverride: fc.Arbitrary<OverrideSource> = fc.record({
  id: fc.uuid(), mode: fc.constantFrom('at-least', 'exactly'), fromMs: instant, untilMs: instant, createdMs: fc.integer({ min: 0, max: 5 }),
  set: units.map((allowance): OverrideSet => ({ quotas: { requests: { allowance } } })),
});
const anySource = fc.tuple(units, fc.array(anyMove, { maxLength: 6 }), fc.array(anyExtra, { maxLength: 4 }), fc.array(anyOverride, { maxLength: 3 })).map(([first, moves, quotaExtras, overrides]) => {
  const sorted = moves.map(([day, usage, allowance, isImmediate]) => ({ atMs: Math.floor(day * DAY_MS), usage, allowance, isImmediate })).sort((left, right) => left.atMs - right.atMs);
  return source({
    overrides, quotaExtras,
    tiers: [span(null, 'first', quota(first, { overage: 'bill', ...(first === null ? {} : { ceiling: first }) })), ...sorted.map(({ atMs, allowance, isImmediate }, index) => span(isImmediate ? null : atMs, `tier-${index}`, quota(allowance)))],
    quotaChanges: [moved(-100, 'carry', first), ...sorted.map(({ atMs, usage, allowance, isImmediate }) => ({ ...moved(0, usage, allowance, isImmediate), atMs }))],
  });
});

describe('for every source with moves and extras', () => {
  it('has exact allowances of 0 or more in contiguous segments whose neighbours differ, each with what quotasAt says', () => {
    fc.assert(fc.property(anySource, (from) => {
      const policy = compile(from);
      policySchema.parse(JSON.parse(JSON.stringify(policy)));
      expect([policy.segments[0]?.fromMs, policy.segments.at(-1)?.untilMs]).toEqual([0, 40 * DAY_MS]);
      policy.segments.forEach((segment, index) => {
        for (const { allowance, ceiling } of segment.quotas) {
          if (allowance !== null) expect(Number.isSafeInteger(allowance) && allowance >= 0).toBe(true);
          if (ceiling !== undefined) expect(ceiling).toBeGreaterThanOrEqual(allowance ?? Infinity);
        }
        const { part, tier, tierVersion, degraded, quotas } = segment;
        for (const atMs of [segment.fromMs, segment.untilMs - 1]) expect(quotasAt(from, atMs)).toEqual({ part, tier, tierVersion, degraded, quotas });
        const next = policy.segments[index + 1];
        if (next === undefined) return;
        expect(next.fromMs).toBe(segment.untilMs);
        expect({ ...next, fromMs: 0, untilMs: 0 }).not.toEqual({ ...segment, fromMs: 0, untilMs: 0 });
      });
    }), { numRuns: 300 });
  });

  it('keeps a prorated number between the smallest and the largest of its allowances', () => {
    fc.assert(fc.property(fc.array(fc.integer({ min: 0, max: MAX }), { minLength: 2, maxLength: 5 }), fc.infiniteStream(fc.integer({ min: 1, max: 10 * DAY_MS - 1 })), (allowances, instants) => {
      const [first = 0, ...rest] = allowances;
      const cuts = rest.map(() => Number(instants.next().value)).sort((left, right) => left - right);
      const from = movedSource(first, rest.map((allowance, index) => [(cuts[index] ?? 0) / DAY_MS, 'prorate', allowance]));
      const last = at({ ...from, quotaChanges: (from.quotaChanges ?? []).map((change, index) => ({ ...change, atMs: cuts[index - 1] ?? change.atMs })) }, 10 * DAY_MS - 1)?.allowance ?? -1;
      expect(last).toBeGreaterThanOrEqual(Math.min(...allowances));
      expect(last).toBeLessThanOrEqual(Math.max(...allowances));
    }));
  });

  it('is the same to the byte with no moves and no extras as without the fields, and with moves that only carry', () => {
    fc.assert(fc.property(anySource, (from) => {
      const { quotaChanges, quotaExtras, ...bare } = from;
      const text = JSON.stringify(compile(bare));
      expect(quotaExtras).toBeDefined();
      expect(JSON.stringify(compile({ ...bare, quotaChanges: [], quotaExtras: [] }))).toBe(text);
      expect(JSON.stringify(compile({ ...bare, quotaChanges: (quotaChanges ?? []).map((change): QuotaChange => ({ ...change, usage: 'carry' })) }))).toBe(text);
    }));
  });
});
