import { setTimeout as sleep } from 'node:timers/promises';
import { figure } from '@quotaplane/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, type Answer } from '../story/rig/http-call';
import { startEcho, startPlatform, type Echo, type Platform } from '../story/rig/platform';
import { followHealth, startBalancer, type Balancer } from './rig/balancer';
import { limitFor } from './rig/limits';

const NODES = figure(2, 4);
const PER_SECOND = figure(150, 500);
const STOP_WITHIN_MS = 10_000;

let platform: Platform;
let balancer: Balancer;
let unfollow = (): void => undefined;
const nodes: Echo[] = [];

beforeAll(async () => {
  platform = await startPlatform();
  while (nodes.length < NODES) nodes.push(await startEcho({ QUOTAPLANE_DATA_DIR: platform.dataDir }));
  balancer = await startBalancer(nodes.map(({ url }) => url));
  unfollow = followHealth(balancer, () => nodes.map(({ url }) => url));
});
afterAll(async () => {
  unfollow();
  await balancer?.stop();
  await Promise.all(nodes.map((node) => node.stop()));
  await platform?.stop();
});

describe('P25: nodes are replaced one by one under load', () => {
  it('and no call is dropped, each stop takes 10 s at most, and the ledger has every unit', async () => {
    const { control } = platform;
    const tier = await control.tier('rolling', {
      limits: [limitFor('token-bucket', { limit: 1_000_000, windowMs: 60_000, burst: 100_000 })],
      quotas: [{ meter: 'requests', allowance: 10_000_000, overage: 'reject', alertAt: [] }],
    });
    const { slug, key } = await control.tenant('rolling', tier);
    const calls: Promise<Answer>[] = [];
    let isOver = false;
    const load = (async () => {
      const startedAt = performance.now();
      while (!isOver) {
        const due = Math.floor(((performance.now() - startedAt) * PER_SECOND) / 1000);
        while (calls.length < due) calls.push(call(`${balancer.url}/echo`, { key }));
        await sleep(5);
      }
    })();
    try {
      await sleep(1000);
      for (let turn = 0; turn < NODES; turn += 1) {
        const old = nodes[turn];
        const startedAt = performance.now();
        expect(await old?.stop()).toBe(0);
        expect(performance.now() - startedAt).toBeLessThanOrEqual(STOP_WITHIN_MS);
        nodes[turn] = await startEcho({ QUOTAPLANE_DATA_DIR: platform.dataDir });
        await sleep(500);
      }
    } finally {
      isOver = true;
      await load;
    }
    const answers = await Promise.all(calls);
    console.log(`${answers.length} calls at ${PER_SECOND}/s while ${NODES} nodes were replaced; ${balancer.failures} without an answer`);
    expect(balancer.failures).toBe(0);
    expect(answers.filter(({ status }) => status !== 200).map(({ status, body }) => `${status} ${body}`)).toEqual([]);
    await Promise.all(nodes.map((node) => node.stop()));
    for (let waited = 0; waited < 10_000 && (await control.usageOf(slug))?.used !== String(answers.length); waited += 250) await sleep(250);
    expect((await control.usageOf(slug))?.used).toBe(String(answers.length));
  });
});
