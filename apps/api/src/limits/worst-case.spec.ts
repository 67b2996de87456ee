import { InProcessLimitStore, ANY_HEAD, type RateCharge } from '@quotaplane/rate-limit';
import { TestClock } from '@quotaplane/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { worstCaseUnits, type CountedLimit } from './worst-case';

type Rule = CountedLimit & { readonly limit: number };
/** Instant at which a call of `cost` goes through; undefined for a refused one. */
type Admits = (nowMs: number, cost: number) => Promise<number | undefined>;
type Passed = readonly (readonly [atMs: number, cost: number])[];

const WINDOW_MS = 1000;

function chargeOf({ algorithm, limit, burst, alignment = 'epoch', maxQueue = 0 }: Rule, cost: number): RateCharge {
  const rate = { counter: 'c', limit, windowMs: WINDOW_MS, cost };
  switch (algorithm) {
    case 'fixed-window':
      return { kind: 'window', ...rate, alignment };
    case 'sliding-log':
      return { kind: 'log', ...rate };
    case 'sliding-counter':
      return { kind: 'counter', ...rate };
    case 'leaky-bucket':
      return { kind: 'queue', ...rate, capacity: maxQueue + 1, maxWaitMs: 60_000 };
    default:
      return { kind: 'bucket', ...rate, capacity: burst ?? limit };
  }
}

/** A fresh counter on the models that guards run. */
function counterOf(rule: Rule): Admits {
  const clock = new TestClock(0);
  const store = new InProcessLimitStore({ maxCounters: 10, now: clock.now });
  return async (nowMs, cost) => {
    clock.set(nowMs);
    const verdict = await store.judgeAndSpend({ tenant: 't', knownHead: ANY_HEAD, fromMs: 0, untilMs: 1e12, subjectFields: [], charges: [chargeOf(rule, cost)] }, 0);
    return verdict.status === 'allowed' ? nowMs + (verdict.states[0]?.waitMs ?? 0) : undefined;
  };
}

/** Most units that passed within any WINDOW_MS. */
function heaviestWindow(passed: Passed): number {
  const sums = passed.map(([fromMs]) => passed.reduce((sum, [atMs, cost]) => (atMs >= fromMs && atMs < fromMs + WINDOW_MS ? sum + cost : sum), 0));
  return Math.max(0, ...sums);
}

/** A caller who means to: every `cost` that passes from `fromMs` on, for a whole window. */
async function takeAll(admits: Admits, fromMs: number, cost = 1): Promise<[number, number][]> {
  const passed: [number, number][] = [];
  for (let nowMs = fromMs; nowMs < fromMs + WINDOW_MS; nowMs += 1) {
    for (let atMs = await admits(nowMs, cost); atMs !== undefined; atMs = await admits(nowMs, cost)) passed.push([atMs, cost]);
  }
  return passed;
}

const bucket = { burst: null, limit: 6 };
const RULES: readonly Rule[] = [
  { algorithm: 'token-bucket', limit: 10, burst: 4 },
  { algorithm: 'token-bucket', limit: 3, burst: 20 },
  { algorithm: 'gcra', limit: 7, burst: 7 },
  { ...bucket, algorithm: 'fixed-window', alignment: 'epoch' },
  { ...bucket, algorithm: 'fixed-window', alignment: 'first-hit' },
  { ...bucket, algorithm: 'sliding-log' },
  { ...bucket, algorithm: 'sliding-counter' },
  { ...bucket, algorithm: 'leaky-bucket', maxQueue: 4 },
];

describe.each(RULES)('the worst case of $algorithm $alignment, $limit a window', (rule) => {
  // Fails when the published figure is lowered.
  it('is never passed by callers that send whenever they like', async () => {
    const calls = fc.array(fc.tuple(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 1, max: 5 })), { minLength: 5, maxLength: 80 });
    await fc.assert(fc.asyncProperty(calls, fc.integer({ min: 0, max: WINDOW_MS }), async (steps, startMs) => {
      const admits = counterOf(rule);
      const passed: [number, number][] = [];
      let nowMs = startMs;
      for (const [waitMs, cost] of steps) {
        nowMs += waitMs;
        const atMs = await admits(nowMs, cost);
        if (atMs !== undefined) passed.push([atMs, cost]);
      }
      expect(heaviestWindow(passed)).toBeLessThanOrEqual(worstCaseUnits(rule) ?? 0);
    }));
  });
});

/** How close a caller comes who means to. Fails when the published figure is raised: it would frighten for nothing. */
describe('the worst case is reached', () => {
  it.each([RULES[0], RULES[1], RULES[2]] as Rule[])('but for one unit by $algorithm $limit: it drains within the same stretch', async (rule) => {
    expect(heaviestWindow(await takeAll(counterOf(rule), 0))).toBe((worstCaseUnits(rule) ?? 0) - 1);
  });

  it('by a fixed window of the clock, around its change', async () => {
    const rule = RULES[3] as Rule;
    expect(heaviestWindow(await takeAll(counterOf(rule), WINDOW_MS - 1))).toBe(worstCaseUnits(rule));
  });

  it('by a fixed window that a call opens, but for that call', async () => {
    const rule = RULES[4] as Rule;
    const admits = counterOf(rule);
    expect(await admits(0, 1)).toBe(0);
    expect(heaviestWindow(await takeAll(admits, WINDOW_MS - 1))).toBe(worstCaseUnits(rule));
  });

  it('by a sliding log', async () => {
    expect(heaviestWindow(await takeAll(counterOf(RULES[5] as Rule), 500))).toBe(worstCaseUnits(RULES[5] as Rule));
  });

  it('by a sliding counter that is spent at the end of one window and through the next', async () => {
    const rule = RULES[6] as Rule;
    expect(heaviestWindow(await takeAll(counterOf(rule), WINDOW_MS - 1))).toBe(worstCaseUnits(rule));
  });

  it('by a leaky bucket: limit for calls of cost 1, and all of a heavy call\'s cost in the moment it goes', async () => {
    const rule = RULES[7] as Rule;
    expect(heaviestWindow(await takeAll(counterOf(rule), 0))).toBe(rule.limit);
    const admits = counterOf(rule);
    const passed: [number, number][] = [];
    for (const [askMs, cost] of [[0, 5], [900, 5]] as const) passed.push([await admits(askMs, cost) ?? -1, cost]);
    expect(heaviestWindow(passed)).toBe(10);
    expect(worstCaseUnits(rule)).toBe(10);
  });
});

it('is nothing where nothing passes, and null where everything does', () => {
  expect(worstCaseUnits({ algorithm: 'token-bucket', limit: 0, burst: 5 })).toBe(0);
  expect(worstCaseUnits({ algorithm: 'sliding-log', limit: null, burst: null })).toBeNull();
});
