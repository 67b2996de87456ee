import { setTimeout as sleep } from 'node:timers/promises';
import type { UsageItem } from '@quotaplane/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { degradedAnswers, loggedTotal, metricTotal } from './rig/degraded-totals';
import { call, flood, headerOf, type Answer } from './rig/http-call';
import { wholeNumber } from './rig/limit-fields';
import { SteadyLoad, startOutagePlatform, type OutagePlatform } from './rig/outage';
import { percentile, until } from './rig/patience';
import { startEcho } from './rig/platform';
import { byStore, denied, expectPasses, isMachineCalm, passed } from './rig/story';

const DAY_MS = 86_400_000;
/** What an outage may add to a call. */
const ADDED_MAX_MS = 50;
/** A pause that a Node process may make at any time, such as for its garbage; three healthy seconds may happen to have none. */
const USUAL_PAUSE_MS = 25;
const RETURN_MAX_MS = 5000;
const dayBucket = (limit: number) => ({
  limits: [{ name: 'per-day', algorithm: 'token-bucket' as const, scope: 'tenant' as const, limit, windowMs: DAY_MS, burst: limit, mode: 'enforce' as const }],
  quotas: [{ meter: 'requests', allowance: 1_000_000, overage: 'reject' as const, alertAt: [] }],
});

let world: OutagePlatform;
/** Every guarded answer of the two nodes, for the totals at the end. */
const all: Answer[] = [];
/** Those of a third process, which the ledger knows too. */
const strangers: Answer[] = [];
const of = (key: string): Answer[] => [...all, ...strangers].filter((answer) => answer.key === key);
const keep = (answer: Answer): Answer => {
  all.push(answer);
  return answer;
};
const hit = async (url: string, key: string): Promise<Answer> => keep(await call(`${url}/echo`, { key }));
const signIn = async (url: string): Promise<Answer> =>
  keep(await call(`${url}/login`, { method: 'POST', body: { email: `${Math.random()}@example.com`, password: 'wrong' } }));
const overBoth = (key: string, total: number): Promise<Answer[]> => flood(total, 8, (index) => hit(world.urls[index % 2 ? 1 : 0], key));
const steadyLoad = (key: string): SteadyLoad => new SteadyLoad(8, (index) => ({ url: `${world.urls[index % 2 ? 1 : 0]}/echo`, options: { key } }), keep);

/** Waits for both nodes to decide with the store again; answers how long that took. */
async function untilHealthy(keys: readonly string[]): Promise<number> {
  const startedAt = performance.now();
  for (const url of world.urls) {
    for (const key of keys) await until('a decision by the store', RETURN_MAX_MS, async () => byStore([await hit(url, key)]).length === 1, 50);
  }
  return performance.now() - startedAt;
}

/** Holds the calls of an outage against healthy ones of the same load, strictly where the machine has time for both. */
function expectNoWait(what: string, healthy: readonly Answer[], during: readonly Answer[], isCalm: boolean): void {
  const [before, since] = [healthy, during].map((answers) => {
    const tookMs = answers.map((answer) => answer.tookMs);
    return { p99: percentile(tookMs, 0.99), max: Math.max(...tookMs), calls: tookMs.length };
  });
  console.log(`${what}: without ${JSON.stringify(before)}, with ${JSON.stringify(since)} (ms); machine ${isCalm ? 'calm' : 'busy'}`);
  expect((since?.p99 ?? 0) - (before?.p99 ?? 0)).toBeLessThanOrEqual(isCalm ? ADDED_MAX_MS : 5 * ADDED_MAX_MS);
  if (isCalm) expect((since?.max ?? 0) - Math.max(before?.max ?? 0, USUAL_PAUSE_MS)).toBeLessThanOrEqual(ADDED_MAX_MS);
}

/** What the ledger holds of a tenant is what its callers were let through with: by the store, and without it. */
async function expectLedger(tenant: string, key: string): Promise<void> {
  const admitted = passed(byStore(of(key))).length;
  const degraded = passed(degradedAnswers(of(key))).length;
  const at = Date.now();
  const usage = await until<UsageItem>(`the usage of ${tenant}`, 10_000, async () => {
    const item = await world.platform.control.usageOf(tenant);
    return item && Date.parse(item.asOf) >= at && item;
  }, 100);
  expect([tenant, usage.breakdown]).toEqual([tenant, expect.objectContaining({ admitted: String(admitted), degraded: String(degraded), refunded: '0' })]);
}

beforeAll(async () => {
  world = await startOutagePlatform();
});
afterAll(() => world?.stop());

describe('point 7: Redis is stopped and comes back empty', () => {
  it('behaves by the fail mode of each class, says so, makes nobody wait, and forgets no unit', async () => {
    const { control } = world.platform;
    const share = await control.tenant('share', await control.tier('share', dayBucket(40)));
    const exact = await control.tenant('exact', await control.tier('exact', dayBucket(100)));
    const load = { slug: 'globex', key: 'demo-globex' };
    // Both nodes know everybody before the store goes.
    await untilHealthy([share.key, exact.key, load.key]);
    for (const url of world.urls) expect((await signIn(url)).status).toBe(401);
    await sleep(1500);

    const isCalm = await isMachineCalm();
    const steady = steadyLoad(load.key);
    let healthy: Answer[] = [];
    let during: Answer[] = [];
    try {
      await sleep(3000);
      healthy = steady.answers.slice();
      if (isCalm) expect(degradedAnswers(healthy)).toEqual([]);
      await world.redis.kill();
      const downAt = Date.now();
      await expectFailModes(share.key);
      await until('three seconds of outage', 10_000, () => Date.now() - downAt > 3000);
      during = steady.answers.slice(healthy.length);

      await world.redis.restart({ empty: true });
      const backMs = await untilHealthy([load.key, share.key, exact.key]);
      console.log(`Redis came back empty: both nodes decided by it again for all of these tenants after ${Math.round(backMs)} ms`);
      expect(backMs).toBeLessThanOrEqual(RETURN_MAX_MS);
      // Exact again: a fresh count of 100 over both nodes, of which the looks above have used some.
      const used = passed(byStore(of(exact.key))).filter(({ sentAt }) => sentAt > downAt).length;
      expectPasses(await overBoth(exact.key, 150), { least: 100 - used, most: 100 - used }, isCalm);
    } finally {
      await steady.end();
    }
    expect(steady.errors).toEqual([]);
    expectNoWait('Redis killed', healthy, during, isCalm && (await isMachineCalm()));
    await expectKnownToStranger([load.key, exact.key, share.key]);
    for (const { slug, key } of [share, exact, load]) await expectLedger(slug, key);
  });

  it('lets nobody wait for a Redis that hangs, and is exact again within 2 s of its waking', async () => {
    const { control } = world.platform;
    const { key } = await control.tenant('hang', await control.tier('hang', dayBucket(60)));
    await untilHealthy([key, 'demo-acme']);
    const isCalm = await isMachineCalm();
    const steady = steadyLoad('demo-acme');
    let healthy: Answer[] = [];
    let during: Answer[] = [];
    try {
      await sleep(2000);
      healthy = steady.answers.slice();
      world.redis.pause();
      await sleep(3000);
      expect((await signIn(world.urls[0])).status).toBe(503);
      world.redis.resume();
      during = steady.answers.slice(healthy.length);
      expect(degradedAnswers(during).length).toBeGreaterThan(during.length / 2);
      const backMs = await untilHealthy(['demo-acme', key]);
      expect(backMs).toBeLessThanOrEqual(isCalm ? 2000 : RETURN_MAX_MS);
    } finally {
      world.redis.resume();
      await steady.end();
    }
    expect(steady.errors).toEqual([]);
    expectNoWait('Redis hung', healthy, during, isCalm && (await isMachineCalm()));
    const used = passed(byStore(of(key))).length;
    expectPasses(await overBoth(key, 80), { least: 60 - used, most: 60 - used }, isCalm);
  });

  it('says every degraded decision in header, metric and log, and the three totals agree', async () => {
    // The last second's lines are written when the second is over.
    await sleep(1500);
    const inHeaders = degradedAnswers(all).length;
    expect(inHeaders).toBeGreaterThan(100);
    expect(await metricTotal(world.urls, 'quotaplane_fallbacks_total')).toBe(inHeaders);
    expect(loggedTotal(await world.logs())).toBe(inHeaders);
  });
});

/** Redis is dead: `local` gives each of two nodes its half of the tenant's 40, and not one unit more; `closed` refuses. */
async function expectFailModes(key: string): Promise<void> {
  const shares = await Promise.all(world.urls.map((url) => flood(40, 4, () => hit(url, key))));
  for (const answers of shares) {
    expect(new Set(answers.map((answer) => headerOf(answer, 'RateLimit-Source')))).toEqual(new Set(['local']));
    expect([passed(answers).length, denied(answers).length]).toEqual([20, 20]);
  }
  for (const url of world.urls) {
    const refused = await signIn(url);
    const type = 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity';
    expect([refused.status, JSON.parse(refused.body)]).toEqual([503, expect.objectContaining({ status: 503, code: 'limiter_unavailable', type })]);
    expect(wholeNumber(refused, 'Retry-After')).toBeGreaterThanOrEqual(1);
    expect(headerOf(refused, 'RateLimit-Source')).not.toBe('');
  }
}

/** A process without any memory of its own finds heads, policies and the key index where they were. */
async function expectKnownToStranger(keys: readonly string[]): Promise<void> {
  const stranger = await startEcho({ REDIS_URL: world.redis.url, QUOTAPLANE_DATA_DIR: world.platform.dataDir });
  try {
    for (const key of keys) {
      await until('a decision by the store', 1000, async () => {
        const answer = await call(`${stranger.url}/echo`, { key });
        expect(answer.status).not.toBe(401);
        strangers.push(answer);
        return byStore([answer]).length === 1;
      });
    }
  } finally {
    await stranger.stop();
  }
}
