import type { UsageItem } from '@quotaplane/contracts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { degradedAnswers } from './rig/degraded-totals';
import { call, flood } from './rig/http-call';
import { startOutagePlatform, type OutagePlatform } from './rig/outage';
import { until } from './rig/patience';
import { startEcho } from './rig/platform';
import { byStore, passed } from './rig/story';

let world: OutagePlatform;
beforeAll(async () => {
  world = await startOutagePlatform();
});
afterAll(() => world?.stop());

it('a node that ends while Redis is away hands its last usage to the control plane, and nothing is counted twice when Redis is back', async () => {
  const { control } = world.platform;
  const limits = [{ name: 'per-day', algorithm: 'token-bucket' as const, scope: 'tenant' as const, limit: 100_000, windowMs: 86_400_000, mode: 'enforce' as const }];
  const tier = await control.tier('exit', { limits, quotas: [{ meter: 'requests', allowance: 1_000_000, overage: 'reject', alertAt: [] }], degraded: 'bill' });
  const { slug, key } = await control.tenant('exit', tier);
  const token = await control.tokenFor(['usage:write']);
  const node = await startEcho({ REDIS_URL: world.redis.url, QUOTAPLANE_DATA_DIR: world.platform.dataDir, QUOTAPLANE_URL: world.platform.apiUrl, QUOTAPLANE_TOKEN: token });
  await until('a decision by the store', 10_000, async () => byStore([await call(`${node.url}/bulk`, { method: 'POST', key, body: { items: [] } })]).length === 1);
  const before = await flood(20, 4, () => call(`${node.url}/echo`, { key }));
  await world.redis.kill();
  const during = await flood(30, 4, () => call(`${node.url}/echo`, { key }));
  expect(await node.stop()).toBe(0);
  const all = [...before, ...during];
  const wanted = { admitted: String(passed(byStore(all)).length), degraded: String(passed(degradedAnswers(all)).length) };
  const held = async (): Promise<UsageItem['breakdown'] | undefined> => (await control.usageOf(slug))?.breakdown;
  // Redis is still away: what the ledger has of the outage came by the other road.
  expect(await until('the usage of the ended node', 10_000, async () => {
    const found = await held();
    return found?.degraded === wanted.degraded && found;
  }, 100)).toMatchObject(wanted);

  await world.redis.restart();
  await until('a decision by the store', 10_000, async () => byStore([await call(`${world.urls[0]}/bulk`, { method: 'POST', key, body: { items: [] } })]).length === 1, 50);
  const asOf = Date.now();
  await until('the next fold', 10_000, async () => Date.parse((await control.usageOf(slug))?.asOf ?? '') > asOf, 100);
  expect(await held()).toMatchObject(wanted);
});
