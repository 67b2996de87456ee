import { setTimeout as sleep } from 'node:timers/promises';
import { figure, startRedis, type Fault, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { degradedAnswers, loggedTotal, metricTotal } from '../story/rig/degraded-totals';
import { call, flood, headerOf, type Answer } from '../story/rig/http-call';
import { SteadyLoad } from '../story/rig/outage';
import { percentile, until } from '../story/rig/patience';
import { startEcho, startPlatform, type Echo, type Platform } from '../story/rig/platform';
import { byStore, expectPasses, isMachineCalm, passed } from '../story/rig/story';
import { startBalancer, type Balancer } from './rig/balancer';
import { dayLimit } from './rig/limits';
import { startProxiesApart, type ProxiesApart } from './rig/proxies-apart';

const NODES = 4;
const FAULT_MS = figure(2500, 60_000);
const DECIDED_WITHIN_MS = 50;
const BACK_WITHIN_MS = 2000;
/** Share of the fleet that a node has: its limit is 100. */
const LIMIT = 100;

/** Four nodes, each with a proxy of its own before the store, behind one balancer. */
let redis: TestRedis;
let platform: Platform;
let balancer: Balancer;
let proxies: ProxiesApart;
const nodes: Echo[] = [];
const all: Answer[] = [];
const keep = (answer: Answer): Answer => {
  all.push(answer);
  return answer;
};
const hit = async (url: string, key: string): Promise<Answer> => keep(await call(`${url}/echo`, { key }));

beforeAll(async () => {
  redis = await startRedis();
  platform = await startPlatform({ REDIS_URL: redis.url });
  proxies = await startProxiesApart(redis.url, NODES);
  for (const url of proxies.urls) nodes.push(await startEcho({ REDIS_URL: url, QUOTAPLANE_DATA_DIR: platform.dataDir }));
  balancer = await startBalancer(nodes.map(({ url }) => url));
});
afterAll(async () => {
  await balancer?.stop();
  await Promise.all(nodes.map((node) => node.stop()));
  await proxies?.stop();
  await platform?.stop();
  await redis?.stop();
});

async function freshTenant(name: string): Promise<string> {
  const { control } = platform;
  const { key } = await control.tenant(name, await control.tier(name, { limits: [dayLimit('token-bucket', LIMIT)] }));
  for (const { url } of nodes) await untilByStore(url, key);
  return key;
}

const untilByStore = (url: string, key: string): Promise<true> =>
  until(`a decision by the store at ${url}`, 10_000, async () => byStore([keep(await call(`${url}/bulk`, { method: 'POST', key, body: { items: [] } }))]).length === 1, 50);

const FAULTS: readonly (readonly [string, Fault])[] = [
  ['cut (killed)', { kind: 'reset' }],
  ['hung', { kind: 'hang' }],
  ['slow', { kind: 'latency', delayMs: 400 }],
  ['answering to nobody', { kind: 'drop-replies' }],
  ['half-open', { kind: 'half-open' }],
];

describe('proof 6: the store is in trouble, and everybody gets an answer (P07)', () => {
  it.each(FAULTS)('%s: decided in time by the declared mode, and exact again within 2 s', async (name, fault) => {
    const [loadKey, shareKey, exactKey] = [await freshTenant('load'), await freshTenant('share'), await freshTenant('exact')];
    const isCalm = await isMachineCalm();
    const steady = new SteadyLoad(8, () => ({ url: `${balancer.url}/echo`, options: { key: loadKey } }), keep);
    let healthy: Answer[] = [];
    let during: Answer[] = [];
    try {
      await sleep(1500);
      healthy = steady.answers.slice();
      await proxies.strike(fault);
      // Past the breaker's opening: from here on every node decides alone.
      await until('a node that decides alone', 5000, async () => degradedAnswers([await hit(balancer.url, loadKey)]).length === 1, 20);
      await sleep(500);
      const shares = await Promise.all(nodes.map(({ url }) => flood(LIMIT, 4, () => hit(url, shareKey))));
      // The remembered fleet is these four nodes and the one of the platform's own start.
      const floor = Math.floor(LIMIT / (NODES + 1));
      for (const answers of shares) {
        const alone = degradedAnswers(answers);
        expect(passed(alone).length).toBeLessThanOrEqual(floor + 1);
        expect(alone.every((answer) => headerOf(answer, 'RateLimit-Source') === 'local')).toBe(true);
      }
      const allowed = shares.flat().filter(({ status }) => status === 200).length;
      expect(allowed).toBeLessThanOrEqual(LIMIT);
      expect(shares.flat().every(({ status }) => status === 200 || status === 429)).toBe(true);
      const refused = keep(await call(`${balancer.url}/login`, { method: 'POST', body: { email: `${Math.random()}@example.com`, password: 'wrong' } }));
      expect([refused.status, JSON.parse(refused.body)]).toEqual([503, expect.objectContaining({ code: 'limiter_unavailable' })]);
      await sleep(FAULT_MS);
      during = steady.answers.slice(healthy.length);
      const backAt = performance.now();
      await proxies.heal();
      for (const { url } of nodes) for (const key of [loadKey, exactKey]) await untilByStore(url, key);
      const backMs = performance.now() - backAt;
      console.log(`${name}: decided by the store again after ${Math.round(backMs)} ms`);
      expect(backMs).toBeLessThanOrEqual(isCalm ? BACK_WITHIN_MS : 3 * BACK_WITHIN_MS);
    } finally {
      await proxies.strike({ kind: 'none' });
      await steady.end();
    }
    expect(steady.errors).toEqual([]);
    expectInTime(name, healthy, during, isCalm);
    expectPasses(await flood(LIMIT + 50, LIMIT + 50, () => hit(balancer.url, exactKey)), { least: LIMIT, most: LIMIT }, isCalm);
  });

  it('k of n nodes cut: at most limit x (1 + k / n) pass', async () => {
    const key = await freshTenant('some');
    await proxies.strike({ kind: 'hang' }, 2);
    try {
      for (const { url } of nodes.slice(0, 2)) await until('a node that decides alone', 5000, async () => degradedAnswers([await hit(url, key)]).length === 1, 20);
      const answers = await flood(4 * LIMIT, 16, () => hit(balancer.url, key));
      expect(passed(answers).length).toBeLessThanOrEqual(LIMIT * (1 + 2 / NODES));
      expect(passed(answers).length).toBeGreaterThanOrEqual(LIMIT - 4);
    } finally {
      await proxies.heal();
    }
  });

  it('P30 says every degraded decision in header, metric and log: the three totals agree', async () => {
    // The last second's lines are written when the second is over.
    await sleep(1500);
    const inHeaders = degradedAnswers(all).length;
    expect(inHeaders).toBeGreaterThan(100);
    expect(await metricTotal(nodes.map(({ url }) => url), 'quotaplane_fallbacks_total')).toBe(inHeaders);
    const logs = await Promise.all(nodes.map((node) => node.log()));
    expect(loggedTotal(logs.join('\n'))).toBe(inHeaders);
  });
});

/** What the fault adds to a call, against the healthy ones of the same load. */
function expectInTime(name: string, healthy: readonly Answer[], during: readonly Answer[], isCalm: boolean): void {
  const p99 = (answers: readonly Answer[]): number => percentile(answers.map(({ tookMs }) => tookMs), 0.99);
  const [before, since] = [p99(healthy), p99(during)];
  console.log(`${name}: p99 ${before.toFixed(1)} ms healthy, ${since.toFixed(1)} ms during; ${during.length} calls; machine ${isCalm ? 'calm' : 'busy'}`);
  expect(since - before).toBeLessThanOrEqual(isCalm ? DECIDED_WITHIN_MS : 8 * DECIDED_WITHIN_MS);
}
