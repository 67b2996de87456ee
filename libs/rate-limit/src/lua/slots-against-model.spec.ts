import { startRedis, type TestRedis } from '@quotaplane/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { assertedSlots, deniedSlots, judgeSlots, slotFigures, type SlotHolder, type SlotOrder, type SlotsState } from '../models/slots';
import { connectLimitRedis, type LimitRedis } from '../redis/connect-limit-redis';
import { decodeBatch } from '../redis/decoded-batch';
import { encodeBatch } from '../redis/encoded-batch';
import { callScript } from '../redis/script-call';
import { connected } from '../rig/connected';
import { ANY_HEAD, type ChargeState, type Check, type SlotCharge, type Verdict } from '../store';

const KEY = 'qp:{t}:n:in-flight:1';
const START_MS = 1_764_500_000_123;
const UNTIL_MS = START_MS + 3_600_000_000;
const RUNS = Number(process.env.QUOTAPLANE_RUNS ?? 500);
const LIFE_SLACK_MS = 2_000;

let server: TestRedis;
let redis: LimitRedis;

beforeAll(async () => {
  server = await startRedis();
  redis = await connected(connectLimitRedis(server.url));
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

type Step =
  | { readonly step: 'acquire'; readonly order: SlotOrder; readonly limit: number; readonly isRegenerated: boolean; readonly costs: readonly number[] }
  | { readonly step: 'assert'; readonly order: SlotOrder; readonly isRegenerated: boolean }
  | { readonly step: 'clock'; readonly byMs: number }
  | { readonly step: 'plant'; readonly incarnation: string; readonly text: string }
  | { readonly step: 'plant list' };

const incarnation = fc.constantFrom('a', 'b', 'c-1');
const order: fc.Arbitrary<SlotOrder> = fc.record({
  incarnation, own: fc.nat(4), leaseMs: fc.constantFrom(1_000, 15_000, 60_000), graceMs: fc.constantFrom(0, 3_000), sequence: fc.nat(2),
});
const isRegenerated = fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ step: fc.constant('acquire' as const), order, limit: fc.nat(9), isRegenerated, costs: fc.array(fc.constantFrom(1, 1, 1, 0), { minLength: 1, maxLength: 5 }) }) },
  { weight: 4, arbitrary: fc.record({ step: fc.constant('assert' as const), order, isRegenerated }) },
  { weight: 4, arbitrary: fc.record({ step: fc.constant('clock' as const), byMs: fc.constantFrom(1, 999, 1_000, 3_000, 15_000, 60_001, -1, -3_000, -600_000) }) },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('plant' as const), incarnation, text: fc.constantFrom('', 'x', '3', '3:4', '-1:4:5', '1e3:4:5', '99999999999999999:1:1', `2:${START_MS + 5_000}:9007199254740991`) }) },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('plant list' as const) }) },
);

const holderOf = (text: string): SlotHolder => {
  const [, count = '0', untilMs = '0', sequence = '0'] = /^(\d{1,16}):(\d{1,16}):(\d{1,16})$/.exec(text) ?? [];
  return { count: Number(count), untilMs: Number(untilMs), sequence: Number(sequence) };
};

class History {
  private state: SlotsState | undefined;
  private lifeMs: number | undefined;
  private nowMs = START_MS;

  private taken = 0;

  async take(given: Step): Promise<void> {
    // No two words of a process have the same sequence, though they may come in any order.
    this.taken += 1;
    const step = 'order' in given ? { ...given, order: { ...given.order, sequence: given.order.sequence * 50 + this.taken } } : given;
    if (step.step === 'clock') this.nowMs = Math.max(0, this.nowMs + step.byMs);
    if (step.step === 'acquire') await this.acquire(step);
    if (step.step === 'assert') await this.assert(step);
    if (step.step === 'plant') {
      this.state = { sinceMs: this.state?.sinceMs, holders: new Map(this.state?.holders ?? []).set(step.incarnation, holderOf(step.text)) };
      if ((await redis.type(KEY)) === 'list') await redis.del(KEY);
      await redis.hset(KEY, step.incarnation, step.text);
    }
    if (step.step === 'plant list') {
      [this.state, this.lifeMs] = [undefined, undefined];
      await redis.del(KEY);
      await redis.rpush(KEY, 'a list where a hash should be');
    }
    await this.compare();
  }

  private async acquire({ order, limit, isRegenerated, costs }: Extract<Step, { step: 'acquire' }>): Promise<void> {
    const checks = costs.map((cost): Check => {
      // A peek's slot costs 0, which the type of a charge does not say.
      const charge = { kind: 'slot', counter: KEY, limit, isRegenerated, cost } as SlotCharge;
      return { tenant: 't', knownHead: ANY_HEAD, fromMs: 0, untilMs: UNTIL_MS, subjectFields: [], charges: [charge] };
    });
    const batch = encodeBatch(checks, this.nowMs, { ...order, ownOf: () => order.own });
    const verdicts = decodeBatch(checks, batch.entries, await callScript(redis, 'judge-and-spend', batch));
    expect(verdicts).toEqual(costs.map((cost) => this.expected(order, { limit, isRegenerated }, cost)));
  }

  private expected(order: SlotOrder, rule: { limit: number; isRegenerated: boolean }, cost: number): Verdict {
    const around = { nowMs: this.nowMs, segmentLeftMs: UNTIL_MS - this.nowMs };
    const { retryAfterMs, state } = judgeSlots(this.state, rule, order, cost, { ...around, claimed: 0 });
    const isAllowed = retryAfterMs === 0;
    const changed = cost === 0 ? undefined : isAllowed ? state : deniedSlots(this.state, rule, order, this.nowMs);
    if (changed !== undefined) this.state = changed;
    const { figures, ttlMs } = slotFigures(this.state, rule, order, around);
    if (changed !== undefined) this.lifeMs = performance.now() + ttlMs;
    else if (cost > 0 && this.lifeMs !== undefined) this.lifeMs = Math.max(this.lifeMs, performance.now() + ttlMs);
    return { status: isAllowed ? 'allowed' : 'denied', nowMs: this.nowMs, states: [{ ...figures, retryAfterMs } satisfies ChargeState] };
  }

  private async assert({ order, isRegenerated }: Extract<Step, { step: 'assert' }>): Promise<void> {
    const args = [this.nowMs, order.incarnation, order.leaseMs, order.sequence, order.own, isRegenerated ? 1 : 0];
    const reply = await callScript(redis, 'assert-slots', { keys: [KEY], args });
    const asserted = assertedSlots(this.state, isRegenerated, order, this.nowMs);
    expect(reply).toEqual([asserted === undefined ? 0 : 1]);
    if (asserted === undefined) return;
    this.state = asserted;
    this.lifeMs = performance.now() + (isRegenerated ? 3_456_000_000 : order.leaseMs + 60_000);
  }

  private async compare(): Promise<void> {
    if ((await redis.type(KEY)) === 'list') return expect(this.state).toBeUndefined();
    const { '#since': since, ...fields } = await redis.hgetall(KEY);
    const found = Object.entries(fields).map(([name, text]) => [name, holderOf(text)]);
    expect(new Map(found as [string, SlotHolder][])).toEqual(new Map(this.state?.holders ?? []));
    expect(since === undefined ? undefined : Number(since)).toBe(this.state?.sinceMs);
    if (this.lifeMs !== undefined) expect(Math.abs((await redis.pttl(KEY)) - (this.lifeMs - performance.now()))).toBeLessThan(LIFE_SLACK_MS);
  }
}

// Mutations: count a field whose lease has ended; take the stored own count in place of the caller's; forget the sequence; write on a denial.
it('judges, writes and forgets slots exactly as the model does, over random histories', { timeout: 300_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
      await redis.flushdb();
      const history = new History();
      for (const step of steps) await history.take(step);
    }),
    { numRuns: RUNS },
  );
});
