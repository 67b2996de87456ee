import { redisKeys, type Policy } from '@quotaplane/contracts';
import { StoreClock } from '@quotaplane/policy';
import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ChangesService } from '../audit/changes.service';
import { Clock } from '../config/clock';
import { PrismaService } from '../database/prisma.service';
import { startSpecApp, type SpecApp } from '../http/spec-app';
import { contention, eventually, SpecWorker } from '../outbox/worker-rig';
import { Seeder } from '../seed/seeder';

let postgres: TestPostgres;
let redisServer: TestRedis;
let api: SpecApp;
let worker: SpecWorker;
let redis: Redis;
beforeAll(async () => {
  [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
  const stores = { databaseUrl: postgres.url, redisUrl: redisServer.url };
  redis = new Redis(redisServer.url);
  api = await startSpecApp(stores);
  await new Seeder(api.app.get(PrismaService), api.app.get(ChangesService), new Clock()).run({ withDemo: true });
  worker = await SpecWorker.start(stores);
  await eventually(async () => (await api.call('GET', '/health/ready')).status === 200, 60_000);
});
afterAll(async () => {
  await api?.stop();
  await worker?.stop();
  redis?.disconnect();
  await Promise.all([postgres?.stop(), redisServer?.stop()]);
});

const hobby = async (): Promise<Policy> => JSON.parse((await redis.get(redisKeys.policy('hobby'))) ?? 'null') as Policy;

it('carries a raise from the console to Redis within milliseconds, with receipts and audit', async () => {
  const changes: string[] = [];
  const tookMs: number[] = [];
  for (let burst = 60; burst < 80; burst += 1) {
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const answer = await api.call('POST', '/v1/overrides', {
      body: { tenant: 'hobby', set: { limits: { 'per-minute': { burst } } }, reason: 'launch day', ticket: 'OPS-1', until }, headers: { 'idempotency-key': `raise-${burst}` },
    });
    const committedMs = performance.now();
    expect(answer).toMatchObject({ status: 201, body: { state: 'active', tenant: 'hobby', version: 1 } });
    await eventually(async () => (await hobby()).segments.some(({ limits }) => limits[0]?.burst === burst));
    tookMs.push(performance.now() - committedMs);
    changes.push(answer.body['changeId'] ?? '');
  }
  tookMs.sort((a, b) => a - b);
  const factor = contention();
  console.info(`answer to Redis: median ${Math.round(tookMs[10] ?? 0)} ms, worst ${Math.round(tookMs[19] ?? 0)} ms, machine ${factor.toFixed(1)} times slower than alone`);
  expect(tookMs[10]).toBeLessThan(100 * factor);
  const last = await eventually(async () => {
    const { body } = await api.call('GET', `/v1/changes/${changes.at(-1) ?? ''}`);
    return body['state'] === 'published' && body;
  });
  expect(last).toMatchObject({ tenants: 1, nodes: { live: 0, total: 0, lagging: [] }, tookMs: null });
  const audit = await api.call('GET', '/v1/audit?tenant=hobby&action=override.create');
  expect(audit.body['items']?.[0]).toMatchObject({ reason: 'launch day', ticket: 'OPS-1', before: null, after: { set: { limits: { 'per-minute': { burst: 79 } } } } });
});

it('tells which nodes have a change, and how long the last of them took', async () => {
  const clock = new StoreClock();
  const [seconds] = await redis.time();
  clock.observe(Number(seconds) * 1000);
  let position = '0-0';
  const word = { version: '1', service: 'echo', kind: 'service', host: 'spec', pid: 1, startedAtMs: clock.now(), mode: 'healthy' } as const;
  const say = async (incarnation: string): Promise<void> => {
    const [now, micros] = await redis.time();
    const nowMs = Number(now) * 1000 + Math.floor(Number(micros) / 1000);
    await redis.hset(redisKeys.nodes, incarnation, JSON.stringify({ ...word, incarnation, seenAtMs: nowMs, position, appliedAtMs: nowMs }));
  };
  await Promise.all(['a', 'b'].map(say));
  const { body } = await api.call('POST', '/v1/overrides', { body: { tenant: 'hobby', set: { limits: { 'per-minute': { burst: 90 } } }, reason: 'again' }, headers: { 'idempotency-key': 'again-1' } });
  const path = `/v1/changes/${body['changeId'] ?? ''}`;
  const published = await eventually(async () => {
    const answer = await api.call('GET', path);
    return answer.body['state'] === 'published' && answer.body;
  });
  expect(published).toMatchObject({ nodes: { live: 0, total: 2, lagging: ['a', 'b'] }, tookMs: null });
  const entries = await redis.xrevrange(redisKeys.changes, '+', '-', 'COUNT', 1);
  position = entries[0]?.[0] ?? '';
  await say('a');
  expect((await api.call('GET', path)).body).toMatchObject({ nodes: { live: 1, total: 2, lagging: ['b'] } });
  await say('b');
  const complete = (await api.call('GET', path)).body;
  expect(complete).toMatchObject({ nodes: { live: 2, total: 2, lagging: [] } });
  expect(complete['tookMs']).toBeGreaterThan(0);
  await say('b');
  expect((await api.call('GET', path)).body['tookMs']).toBe(complete['tookMs']);
  expect((await api.call('GET', '/v1/nodes')).body['items']).toMatchObject([{ incarnation: 'a', alive: true }, { incarnation: 'b', alive: true }]);
});

it('shows the compiled policy with the source of each number, and what is to come', async () => {
  const id = (await api.call('GET', '/v1/overrides?tenant=hobby&limit=1')).body['items']?.[0]?.['id'];
  const { body } = await api.call('GET', '/v1/tenants/hobby/policy');
  expect(body).toMatchObject({ tier: 'free', timezone: 'Europe/Berlin', dangling: [] });
  expect(body).toMatchObject({ limits: [{ name: 'per-minute', limit: 100, burst: 90, sources: { limit: 'tier:free@1', burst: `override:${id ?? ''}` } }] });
});

it('refuses what the tier lacks, a burst on a window, an end in the past, and what is not exact, each with its pointer', async () => {
  const post = (body: object) => api.call('POST', '/v1/overrides', { body: { tenant: 'acme', reason: 'try it', ...body } });
  const pointers = async (body: object): Promise<string[]> => {
    const answer = await post(body);
    expect(answer.status).toBe(422);
    return (answer.body['errors'] ?? []).map((error) => error['pointer'] ?? '');
  };
  expect(await pointers({ set: { limits: { 'per-day': { limit: 1 } } } })).toEqual(['/set/limits/per-day']);
  expect(await pointers({ set: { limits: { 'per-minute': { burst: 9_007_199_254_740_991 } } } })).toHaveLength(1);
  expect(await pointers({ set: { concurrency: 1 }, until: '2020-01-01T00:00:00Z' })).toEqual(['/until']);
  expect(await pointers({ set: { concurrency: 1 }, from: '2090-02-01T00:00:00Z', until: '2090-01-01T00:00:00Z' })).toEqual(['/until']);
  expect(await pointers({ set: { quotas: { exports: { allowance: 1 } } } })).toEqual(['/set/quotas/exports']);
});

// Mutation: leave requireTenantFilter or unknownTenant out, and a typo reads as "has nothing" or as a wrong path.
it('names a tenant that does not exist, in a body and as a filter, and keeps no trace of it', async () => {
  const body = { tenant: 'nobody', set: { concurrency: 1 }, reason: 'try it' };
  expect(await api.call('POST', '/v1/overrides', { body })).toMatchObject({ status: 404, body: { errors: [{ pointer: '/tenant', detail: 'is not a tenant' }] } });
  for (const path of ['/v1/overrides', '/v1/usage']) {
    expect(await api.call('GET', `${path}?tenant=nobody`)).toMatchObject({ status: 404, body: { errors: [{ pointer: '/query/tenant' }] } });
    expect((await api.call('GET', `${path}?tenant=acme`)).status).toBe(200);
  }
  // Mutation: create heads for whatever chain is named, and each name leaves a row.
  expect((await api.call('PATCH', '/v1/tenants/nobody', { body: { name: 'No' }, ifMatch: 1 })).status).toBe(404);
  expect((await api.call('POST', '/v1/tenants/nobody/keys', { body: { name: 'ci' } })).status).toBe(404);
  expect(await api.app.get(PrismaService).auditHead.count({ where: { chain: 'nobody' } })).toBe(0);
});

it('ends an override by hand, once, and on every edit wants the version', async () => {
  const { body } = await api.call('POST', '/v1/overrides', { body: { tenant: 'acme', set: { concurrency: 60 }, reason: 'more slots' } });
  const path = `/v1/overrides/${body['id'] ?? ''}`;
  expect((await api.call('PATCH', path, { body: { reason: 'longer', until: null } })).status).toBe(428);
  expect((await api.call('PATCH', path, { ifMatch: 7, body: { reason: 'longer', until: null } })).status).toBe(412);
  expect(await api.call('PATCH', path, { ifMatch: 1, body: { reason: 'longer', set: { concurrency: 70 } } })).toMatchObject({ status: 200, body: { version: 2, set: { concurrency: 70 } } });
  expect(await api.call('POST', `${path}/revert`, { body: { reason: 'over' } })).toMatchObject({ status: 200, body: { state: 'reverted', version: 3 } });
  expect((await api.call('POST', `${path}/revert`, { body: { reason: 'over' } })).status).toBe(409);
  expect((await api.call('DELETE', path, { ifMatch: 3 })).status).toBe(409);
});
