import { PolicyPublisher } from '@quotaplane/policy';
import { connectLimitRedis, type LimitRedis } from '@quotaplane/rate-limit';
import { startRedis, type TestRedis } from '@quotaplane/testing';
import { readJournals, readOffenders } from '@quotaplane/usage';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hashSecret } from '../key-format';
import { startGuardedApp, type GuardedApp } from './guarded-app';
import { catalogueOf, limitOf, publish } from './policies';

const KEY = { 'X-Api-Key': 'demo-acme' };

describe('the usage of guarded services', () => {
  let redis: TestRedis;
  let client: LimitRedis;
  const apps: GuardedApp[] = [];

  beforeEach(async () => {
    redis = await startRedis();
    client = connectLimitRedis(redis.url);
    await new Promise((resolve) => client.once('ready', resolve));
    const publisher = new PolicyPublisher({ redis: client });
    await publisher.publishClasses(catalogueOf(), 'c');
    await publisher.publishKey(hashSecret('demo-acme'), { tenant: 'acme', keyId: 'k', userId: null, kind: 'customer' });
    await publish(publisher, { tenant: 'acme', limits: [limitOf({ limit: 40, burst: 40, windowMs: 3_600_000 })] });
  });
  afterEach(async () => {
    redis.resume();
    for (const app of apps.splice(0)) await app.close();
    client.disconnect();
    await redis.stop();
  });
  const start = async (storeBudgetMs = 1000): Promise<GuardedApp> => {
    const app = await startGuardedApp('fastify', { redisUrl: redis.url, service: 'probe', storeBudgetMs });
    apps.push(app);
    return app;
  };

  it('is journaled to the unit on admission alone, and written for the last time at the end', async () => {
    const [one, two] = [await start(), await start()];
    let units = 0;
    for (let call = 0; call < 12; call += 1) {
      const path = call % 3 === 0 ? '/search' : '/echo';
      const answer = await (call % 2 === 0 ? one : two).get(path, KEY);
      if (answer.status === 200) units += path === '/search' ? 10 : 1;
    }
    for (const app of apps.splice(0)) await app.close();
    const batches = await readJournals(client);
    const rows = batches.flatMap((batch) => batch.rows);
    expect(batches.map((batch) => batch.isClosed)).toEqual([true, true]);
    expect(rows.reduce((sum, row) => sum + row.admitted, 0n)).toBe(BigInt(units));
    expect(units).toBeGreaterThan(30);
    expect(rows.every((row) => row.tenant === 'acme' && row.meter === 'requests' && row.periodId === '2026-11-01' && row.generation === 1)).toBe(true);
    expect(await client.hlen('qp:nodes')).toBe(0);
  });

  it('names who was denied, and by which limit', async () => {
    const app = await start();
    for (let call = 0; call < 6; call += 1) await app.get('/search', KEY);
    await app.close();
    apps.length = 0;
    const { rows } = await readOffenders(client, { minutes: 2, nowMs: Date.now(), limit: 10 });
    expect(rows).toMatchObject([{ tenant: 'acme', scope: 'tenant', subject: 'acme', denials: 2, limits: [{ name: 'per-minute', denials: 2 }] }]);
  });

  it('is shared among the nodes while the store is away, never above the limit, and journaled as degraded', async () => {
    const nodes = [await start(25), await start(25), await start(25)];
    for (const app of nodes) await expect.poll(async () => (await app.get('/free', KEY)).headers.get('ratelimit-source'), { interval: 20 }).toBeNull();
    // Every node has read the list of all three.
    await expect.poll(async () => client.hlen('qp:nodes'), { timeout: 3000 }).toBe(3);
    await new Promise((resolve) => setTimeout(resolve, 1200));
    redis.pause();
    const answers = await Promise.all(nodes.map(async (app) => {
      const statuses = [];
      for (let call = 0; call < 20; call += 1) statuses.push((await app.get('/echo', KEY)).status);
      return statuses.filter((status) => status === 200).length;
    }));
    expect(answers.reduce((sum, passed) => sum + passed, 0)).toBe(40);
    expect(Math.max(...answers) - Math.min(...answers)).toBeLessThanOrEqual(1);
    redis.resume();
    for (const app of apps.splice(0)) await app.close();
    const rows = (await readJournals(client)).flatMap((batch) => batch.rows);
    expect(rows.reduce((sum, row) => sum + row.degraded, 0n)).toBe(40n);
    expect(rows.reduce((sum, row) => sum + row.admitted, 0n)).toBe(0n);
  });
});
