import { redisKeys } from '@quotaplane/contracts';
import { startRedis, type TestRedis } from '@quotaplane/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { admitted } from '../admitted';
import { connectLimitRedis, type LimitRedis } from '../redis/connect-limit-redis';
import { withUnits } from '../rig/connected';
import { GRACE_MS, ttlOf } from '../models/numbers';
import { ModelRedis } from '../rig/model-redis';
import { BASE, HEAD, histories, plainHistories, START_MS, type Step } from '../rig/random-histories';
import { slidingHistories } from '../rig/sliding-histories';
import { runPlain, runRefund, runScript } from '../rig/run-script';
import { LIST } from '../rig/state-text';
import type { AdmittedCharge, Check, Verdict } from '../store';

/** Slack between the model's idea of real time and the server's. */
const LIFE_SLACK_MS = 2_000;
const RUNS = Number(process.env.QUOTAPLANE_RUNS ?? 500);

let server: TestRedis;
let redis: LimitRedis;

beforeAll(async () => {
  server = await startRedis();
  redis = connectLimitRedis(server.url);
  await new Promise((resolve) => redis.once('ready', resolve));
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

/** A key's value as the models know it; undefined for a type that no counter has. */
const textIn = async (name: string): Promise<string | null | undefined> => {
  const type = await redis.type(name);
  if (type === 'list') return LIST + (await redis.lrange(name, 0, -1)).join('\n');
  return type === 'hash' ? undefined : redis.get(name);
};

/** P06: a rate that was spent outlives its time to untouched by the grace, and by a window more at most, under the limit that was judged last. */
const expectLives = async (checks: readonly Check[], verdicts: readonly Verdict[]): Promise<void> => {
  const needs = new Map<string, { resetAfterMs: number; longestMs: number; windowMs: number }>();
  checks.forEach(({ charges }, at) => {
    const verdict = verdicts[at];
    if (verdict === undefined || !('states' in verdict)) return;
    const costCap = verdict.states[0]?.repeatCost ?? Infinity;
    charges.forEach((charge, index) => {
      if (Math.min(charge.cost, costCap) === 0 || !('windowMs' in charge) || !('limit' in charge) || charge.limit === 0 || ('capacity' in charge && charge.capacity === 0)) return;
      const [before, resetAfterMs] = [needs.get(charge.counter), verdict.states[index]?.resetAfterMs ?? 0];
      if (verdict.status === 'denied' && before === undefined) return;
      const longestMs = verdict.status === 'denied' ? Math.max(resetAfterMs, before?.longestMs ?? 0) : resetAfterMs;
      needs.set(charge.counter, { resetAfterMs, longestMs, windowMs: charge.windowMs });
    });
  });
  for (const [counter, { resetAfterMs, longestMs, windowMs }] of needs) {
    const pttl = await redis.pttl(counter);
    expect(pttl, `PTTL of ${counter}`).toBeGreaterThan(ttlOf(resetAfterMs, GRACE_MS) - LIFE_SLACK_MS);
    expect(pttl, `PTTL of ${counter}`).toBeLessThanOrEqual(ttlOf(longestMs, GRACE_MS) + windowMs);
    expect(Buffer.byteLength(counter)).toBeLessThanOrEqual(200);
  }
};

/** Judges a batch; answers the order in which its checks were judged. */
type Run = (checks: readonly Check[], nowMs: number) => Promise<{ verdicts: Verdict[]; order: number[] }>;

const inTurn: Run = async (checks, nowMs) => ({ verdicts: await runScript(redis, checks, nowMs), order: checks.map((_, at) => at) });
const inGroups: Run = async (checks, nowMs) => (checks.length === 0 ? { verdicts: [], order: [] } : runPlain(redis, checks, nowMs));

class History {
  private readonly model = new ModelRedis(() => performance.now());
  private readonly admissions: AdmittedCharge[][] = [];
  private nowMs = START_MS;

  constructor(private readonly run: Run) {}

  async take(step: Step): Promise<void> {
    if (step.step === 'clock') this.nowMs = Math.max(0, this.nowMs + step.byMs);
    if (step.step === 'checks') {
      const { verdicts, order } = await this.run(step.checks, this.nowMs);
      const checks = order.map((at) => step.checks[at]).filter((check) => check !== undefined);
      expect(order.map((at) => verdicts[at])).toEqual(checks.map((check) => this.model.judge(check, this.nowMs)));
      verdicts.forEach((verdict, at) => {
        const check = step.checks[at];
        if (verdict.status === 'allowed' && check !== undefined) this.admissions.push(admitted(check.charges, verdict));
      });
      await expectLives(checks, order.map((at) => verdicts[at]).filter((verdict) => verdict !== undefined));
    }
    if (step.step === 'refund') {
      const picked = this.admissions.splice(step.pick % Math.max(1, this.admissions.length), 1)[0] ?? [];
      const charges = picked.map((charge) => withUnits(charge, Math.ceil(charge.units / step.share)));
      if (charges.length > 0) expect(await runRefund(redis, charges, this.nowMs)).toEqual(this.model.refund(charges, this.nowMs));
    }
    if (step.step === 'plant') await this.plant(step);
    if (step.step === 'base') {
      this.model.bases.set(BASE, { plus: step.plus, minus: step.minus });
      await redis.hset(BASE, { plus: String(step.plus), minus: String(step.minus) });
    }
    await this.compareKeys();
  }

  private async plant({ counter, value, lifeMs }: Extract<Step, { step: 'plant' }>): Promise<void> {
    await redis.del(counter);
    if (value === undefined) await redis.hset(counter, 'a hash', 'where a string or a list should be');
    else if (value.startsWith(LIST)) await redis.rpush(counter, ...value.slice(LIST.length).split('\n'));
    else await redis.set(counter, value);
    if (lifeMs !== undefined) await redis.pexpire(counter, lifeMs);
    this.model.keys.set(counter, { text: value, expiresAtMs: lifeMs === undefined ? Infinity : performance.now() + lifeMs });
  }

  private async compareKeys(): Promise<void> {
    const names = [...this.model.keys.keys()];
    const counters = (await redis.keys('qp:*')).filter((key) => key !== BASE && !key.endsWith(':head'));
    expect(counters.sort()).toEqual([...names].sort());
    const found = await Promise.all(names.map((name) => Promise.all([textIn(name), redis.pttl(name)])));
    names.forEach((name, at) => {
      const [expected, [text, pttl] = []] = [this.model.keys.get(name), found[at]];
      expect({ name, text }).toEqual({ name, text: expected?.text });
      const leftMs = (expected?.expiresAtMs ?? 0) - performance.now();
      if (leftMs === Infinity) expect({ name, pttl }).toEqual({ name, pttl: -1 });
      else expect(Math.abs((pttl ?? 0) - leftMs), `PTTL of ${name}: ${pttl}`).toBeLessThan(LIFE_SLACK_MS);
    });
  }
}

it.each([
  ['all kinds', histories, inTurn],
  ['logs, counters and queues', slidingHistories, inTurn],
  ['plain checks, equal ones together', plainHistories, inGroups],
  ['plain checks, one by one', plainHistories, inTurn],
])('judges, stores and expires exactly as the models do, over random histories of %s', { timeout: 300_000 }, async (_, someHistories, run) => {
  await fc.assert(
    fc.asyncProperty(someHistories, async (steps) => {
      await redis.flushdb();
      await redis.set(redisKeys.head('t'), HEAD);
      const history = new History(run);
      for (const step of steps) await history.take(step);
    }),
    { numRuns: RUNS },
  );
});
