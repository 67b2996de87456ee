import { once } from 'node:events';
import { redisKeys, SLIDING_LOG_MAX, type Overage } from '@quotaplane/contracts';
import { figure, SEED, startRedis, TestClock, type TestRedis } from '@quotaplane/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InProcessLimitStore } from '../memory/in-process-limit-store';
import { connectLimitRedis, type LimitRedis } from '../redis/connect-limit-redis';
import { RedisLimitStore } from '../redis/redis-limit-store';
import type { Charge, ChargeState, Check, LimitStore, QuotaState } from '../store';
import { BigIntOracle } from './bigint-oracle';

const HEAD = '1.1';
const START_MS = Date.UTC(2026, 10, 30, 12);
const UNTIL_MS = START_MS + 40 * 86_400_000;
const PERIOD_END_MS = START_MS + 36 * 3_600_000;
const WAIT_MS = 5_000;
/** Of a quota past its allowance. */
const LANE_LIMIT = 6;
const LANE_WINDOW_MS = 1_500;
/** About 15 decisions each, on each store (R1: 10^5 per commit, 10^6 in full). */
const RUNS = figure(3500, 70_000);
const TIME_LIMIT_MS = figure(120_000, 3_600_000);

/** Numbers a limit may have: small ones where off-by-one shows, and the largest that stay exact with a window. */
const limitWith = (windowMs: number): fc.Arbitrary<number> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 12 }) },
    { weight: 2, arbitrary: fc.integer({ min: 90, max: 1_100_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 3 }).map((below) => Math.floor(Number.MAX_SAFE_INTEGER / windowMs) - below) },
  );
const windowMs = fc.constantFrom(1, 7, 1000, 1500, 60_000, 86_400_000);

interface Rule {
  readonly kind: Charge['kind'];
  readonly windowMs: number;
  readonly alignment: 'epoch' | 'first-hit';
  readonly overage: Overage;
  readonly hasCeiling: boolean;
  /** What the ledger says beside a quota's counter. */
  readonly base: { readonly plus: number; readonly minus: number };
  readonly maxWaitMs: number;
}
const ledgerFigure = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 3, arbitrary: fc.integer({ min: 0, max: 12 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 12 }).map((below) => Number.MAX_SAFE_INTEGER - below) });
const rule: fc.Arbitrary<Rule> = fc.record({
  kind: fc.constantFrom('bucket', 'bucket', 'window', 'quota', 'log', 'counter', 'queue'),
  windowMs,
  alignment: fc.constantFrom('epoch', 'first-hit'),
  overage: fc.constantFrom('reject', 'reject', 'bill', 'throttle'),
  hasCeiling: fc.boolean(),
  base: fc.record({ plus: ledgerFigure, minus: ledgerFigure }),
  maxWaitMs: fc.constantFrom(0, 400, 1500, 60_000),
});

const step = fc.record({
  elapsedMs: fc.oneof(fc.constantFrom(0, 0, 1, 399, 600, 1000, 1499), fc.integer({ min: 0, max: 200_000 })),
  /** Numbers in force at this call, per rule: an edit whenever they differ from the last. */
  edit: fc.boolean(),
  cost: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.constantFrom(1, 1, 1, 9, 1_000_000)),
  seed: fc.integer({ min: 0, max: 0x7fffffff }),
});

const history = fc.record({ rules: fc.array(rule, { minLength: 1, maxLength: 4 }), steps: fc.array(step, { minLength: 1, maxLength: 30, size: 'max' }) });
type History = typeof history extends fc.Arbitrary<infer T> ? T : never;

const numbersOf = (rules: readonly Rule[], seed: number): { limit: number; capacity: number }[] =>
  rules.map((each, index) => {
    const [limit = 0, capacity = 1] = fc.sample(fc.tuple(limitWith(each.windowMs), limitWith(each.windowMs)), { seed: seed + index, numRuns: 1 })[0] ?? [];
    return { limit, capacity: Math.max(1, capacity) };
  });

const baseOf = (prefix: string, index: number): string => `${prefix}${index}:base`;

const chargesOf = (rules: readonly Rule[], numbers: readonly { limit: number; capacity: number }[], prefix: string, cost: number): Charge[] =>
  rules.map((each, index): Charge => {
    const { limit = 0, capacity = 1 } = numbers[index] ?? {};
    const counter = `${prefix}${index}`;
    if (each.kind === 'bucket') return { kind: 'bucket', counter, limit, windowMs: each.windowMs, capacity, cost };
    if (each.kind === 'window') return { kind: 'window', counter, limit, windowMs: each.windowMs, alignment: each.alignment, cost };
    if (each.kind === 'log') return { kind: 'log', counter, limit: Math.min(limit, SLIDING_LOG_MAX), windowMs: each.windowMs, cost };
    if (each.kind === 'counter') return { kind: 'counter', counter, limit, windowMs: each.windowMs, cost };
    if (each.kind === 'queue') return { kind: 'queue', counter, limit, windowMs: each.windowMs, capacity, maxWaitMs: each.maxWaitMs, cost };
    const ceiling = each.hasCeiling ? { ceiling: Math.min(Number.MAX_SAFE_INTEGER, limit + capacity - 1) } : {};
    const lane = { kind: 'bucket', counter: `${counter}:lane`, limit: LANE_LIMIT, windowMs: LANE_WINDOW_MS, capacity: LANE_LIMIT, cost } as const;
    return {
      kind: 'quota', counter, base: baseOf(prefix, index), allowance: limit, overage: each.overage, ...ceiling, periodEndMs: PERIOD_END_MS, cost,
      ...(each.overage === 'throttle' ? { lane } : {}),
    };
  });

/** `moreAfterMs` is a convenience of the header; a limit of 0 has no time to untouched. */
const judged = (states: readonly (ChargeState | QuotaState)[], charges: readonly Charge[]): unknown[] =>
  states.map((state, index) => {
    const { remaining, resetAfterMs, retryAfterMs, waitMs } = state;
    const charge = charges[index];
    const lane = charge?.kind === 'quota' && charge.lane !== undefined && 'lane' in state && state.lane !== undefined ? { lane: judged([state.lane], [charge.lane]) } : {};
    const isClosed = charge?.kind === 'quota' ? charge.allowance === 0 : charge !== undefined && 'limit' in charge && charge.limit === 0;
    return isClosed ? { remaining, retryAfterMs } : { remaining, resetAfterMs, retryAfterMs, ...(waitMs === undefined || charge?.cost === 0 ? {} : { waitMs }), ...lane };
  });

let decisions = 0;
const replay = async (store: LimitStore, clock: TestClock, prefix: string, { rules, steps }: History, redis?: LimitRedis): Promise<void> => {
  // Only Redis has a ledger beside its counters.
  const ledgers = new Map(redis === undefined ? [] : rules.map((each, index) => [baseOf(prefix, index), each.base]));
  await Promise.all([...ledgers].map(([base, { plus, minus }]) => redis?.hset(base, { plus, minus })));
  const oracle = new BigIntOracle(ledgers);
  clock.set(START_MS);
  let numbers = numbersOf(rules, 1);
  for (const each of steps) {
    clock.advance(each.elapsedMs);
    if (each.edit) numbers = numbersOf(rules, each.seed);
    const charges = chargesOf(rules, numbers, prefix, each.cost);
    const check: Check = { tenant: 'oracle', knownHead: HEAD, fromMs: 0, untilMs: UNTIL_MS, subjectFields: [], charges };
    const verdict = await store.judgeAndSpend(check, performance.now() + WAIT_MS);
    const expected = oracle.judge(charges, clock.now(), UNTIL_MS);
    if (verdict.status !== 'allowed' && verdict.status !== 'denied') throw new Error(`no decision: ${JSON.stringify(verdict)}`);
    decisions += 1;
    expect({ allowed: verdict.status === 'allowed', states: judged(verdict.states, charges) })
      .toEqual({ allowed: expected.allowed, states: judged(expected.states, charges) });
  }
};

describe('BigInt oracle', () => {
  let server: TestRedis;
  let redis: LimitRedis;
  const clock = new TestClock();
  beforeAll(async () => {
    server = await startRedis();
    redis = connectLimitRedis(server.url);
    await once(redis, 'ready');
    await redis.set(redisKeys.head('oracle'), HEAD);
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  // Mutations that this finds: `>` for `>=` in any admission, floor for ceil in a wait, drain with the old limit, spend before the last charge was judged.
  it('P01 agrees with the script on Redis: who passes, what remains, how long to wait', async () => {
    const store = new RedisLimitStore({ redis, testClock: () => clock.now() });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(history, (input) => replay(store, clock, `qp:{oracle}:c:${run++}:`, input, redis)),
      { numRuns: RUNS, seed: SEED },
    );
    console.info(`${decisions} decisions held against the oracle`);
    expect(decisions).toBeGreaterThan(20_000);
  }, TIME_LIMIT_MS);

  it('P01 agrees with the in-process store', async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(history, (input) => {
        const store = new InProcessLimitStore({ maxCounters: 1_000, now: () => clock.now() });
        return replay(store, clock, `c:${run++}:`, input);
      }),
      { numRuns: RUNS, seed: SEED },
    );
  }, TIME_LIMIT_MS);
});
