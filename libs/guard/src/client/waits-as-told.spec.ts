import { PolicyPublisher } from '@quotaplane/policy';
import { connectLimitRedis } from '@quotaplane/rate-limit';
import { startRedis, type TestRedis } from '@quotaplane/testing';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hashSecret } from '../key-format';
import { startGuardedApp, type GuardedApp } from '../specs/guarded-app';
import { catalogueOf, limitOf, publish, type PolicyParts } from '../specs/policies';
import { createQuotaClient, type QuotaWait } from './quota-client';
import { readLimits } from './read-limits';

let redis: TestRedis;
let client: ReturnType<typeof connectLimitRedis>;
let publisher: PolicyPublisher;
let app: GuardedApp;
beforeAll(async () => {
  redis = await startRedis();
  client = connectLimitRedis(redis.url);
  await new Promise((resolve) => client.once('ready', resolve));
  publisher = new PolicyPublisher({ redis: client as Redis });
  await publisher.publishClasses(catalogueOf(), 'c');
  app = await startGuardedApp('fastify', { redisUrl: redis.url, service: 'probe', storeBudgetMs: 1000 });
});
afterAll(async () => {
  await app?.close();
  client?.disconnect();
  await redis?.stop();
});

const keyOf = async (tenant: string, parts: PolicyParts): Promise<Record<string, string>> => {
  await publish(publisher, { ...parts, tenant });
  await publisher.publishKey(hashSecret(`demo-${tenant}`), { tenant, keyId: `key-${tenant}`, userId: null, kind: 'customer' });
  return { 'X-Api-Key': `demo-${tenant}` };
};

const CALLS_MAX = 300;

const RULES: readonly [name: string, parts: PolicyParts, path: string][] = [
  ['a bucket', { limits: [limitOf({ limit: 3, windowMs: 1000, burst: 2 })] }, '/echo'],
  ['a bucket and a call of cost 10', { limits: [limitOf({ limit: 12, windowMs: 1000, burst: 10 })] }, '/search'],
  ['a window of the clock', { limits: [limitOf({ algorithm: 'fixed-window', limit: 3, windowMs: 1000 })] }, '/echo'],
  ['a window that a call opens', { limits: [limitOf({ algorithm: 'fixed-window', limit: 3, windowMs: 700, alignment: 'first-hit' })] }, '/echo'],
  ['two limits', { limits: [limitOf({ limit: 20, windowMs: 1000, burst: 2 }), limitOf({ name: 'slow', algorithm: 'fixed-window', limit: 4, windowMs: 1500 })] }, '/echo'],
];

// P03: fails when Retry-After is rounded down, or when the client waits a moment less.
it.concurrent.each(RULES)('P03 a lone client that waits as told passes every time: %s', async (name, parts, path) => {
  const headers = await keyOf(`told-${RULES.findIndex(([other]) => other === name)}`, parts);
  const waits: QuotaWait[] = [];
  const send = createQuotaClient({ onWait: (wait) => waits.push(wait) });
  // A slow machine may bring a call only when the window is another one: then more calls are needed until some were told to wait.
  for (let call = 0; call < 12 || (waits.length < 3 && call < CALLS_MAX); call += 1) {
    const response = await send(`${app.url}${path}`, { headers });
    expect(response.status).toBe(200);
    await response.arrayBuffer();
  }
  expect(waits.length).toBeGreaterThan(2);
  // A second denial of one call would have been told too early.
  expect(waits.map(({ reason, sent }) => `${reason} ${sent}`)).toEqual(waits.map(() => 'limited 1'));
});

it.concurrent('is hardly ever denied when it paces itself', async () => {
  const headers = await keyOf('paced', { limits: [limitOf({ limit: 3, windowMs: 1000, burst: 2 })] });
  const waits: QuotaWait[] = [];
  const send = createQuotaClient({ pace: true, onWait: (wait) => waits.push(wait) });
  for (let call = 0; call < 10; call += 1) expect((await send(`${app.url}/echo`, { headers })).status).toBe(200);
  expect(waits.filter(({ reason }) => reason === 'limited')).toEqual([]);
  expect(waits.length).toBeGreaterThan(2);
});

it.concurrent('reads the figures of a real answer and of a real denial', async () => {
  const headers = await keyOf('read', { limits: [limitOf({ limit: 1, burst: 2 })], quotas: [{ meter: 'requests', allowance: 500, overage: 'reject' }] });
  const first = readLimits(await app.get('/echo', headers));
  expect(first.limits).toMatchObject([
    { name: 'per-minute', counts: 'units', limit: 1, burst: 2, windowMs: 60_000, remaining: 1, cost: 1 }, { name: 'month', limit: 500, remaining: expect.any(Number) as number },
  ]);
  expect(first.tightest).toMatchObject({ limit: 2, remaining: 1 });
  await app.get('/echo', headers);
  const denial = readLimits(await app.get('/echo', headers));
  expect(denial.retryAfterMs).toBeGreaterThan(58_000);
  expect(denial.limits.filter(({ remaining }) => remaining !== undefined).map(({ name }) => name)).toEqual(['per-minute']);
});
