import { redisKeys } from '@quotaplane/contracts';
import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { OffenderLog } from '@quotaplane/usage';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ChangesService } from '../audit/changes.service';
import { Clock } from '../config/clock';
import { PrismaService } from '../database/prisma.service';
import { startSpecApp, type SpecAnswer, type SpecApp } from '../http/spec-app';
import { Seeder } from '../seed/seeder';

let postgres: TestPostgres;
let redisServer: TestRedis;
let redis: Redis;
let api: SpecApp;
let token: string;
let foreignOverride: string;
let foreignPenalties: string[];
beforeAll(async () => {
  [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
  redis = new Redis(redisServer.url);
  api = await startSpecApp({ databaseUrl: postgres.url, redisUrl: redisServer.url });
  await new Seeder(api.app.get(PrismaService), api.app.get(ChangesService), new Clock()).run({ withDemo: true });
  const scopes = ['tenants:read', 'tenants:write', 'keys:read', 'keys:write', 'overrides:read', 'overrides:write', 'usage:read', 'offenders:read', 'penalties:read', 'penalties:write'];
  token = String((await api.call('POST', '/v1/tokens', { body: { name: 'bound', scopes, binding: { kind: 'tenant', tenant: 'acme' } } })).body['secret']);
  foreignOverride = String((await api.call('POST', '/v1/overrides', { body: { tenant: 'globex', set: { concurrency: 300 }, reason: 'theirs' } })).body['id']);
  const until = '2999-01-01T00:00:00Z';
  const penalise = async (body: object): Promise<string> => String((await api.call('POST', '/v1/penalties', { body: { ...body, until, reason: 'globex is loud' } })).body['id']);
  const field = JSON.stringify(['globex', 'per-minute', 'user', 'ann']);
  await redis.hset(redisKeys.penalties, field, JSON.stringify({ counter: 'qp:{globex}:p:x', startedMs: Date.now(), untilMs: Date.now() + 3_600_000, level: 1 }));
  foreignPenalties = [
    await penalise({ tenant: 'globex', subject: { scope: 'user', id: 'ann' } }),
    await penalise({ tenant: null, subject: { scope: 'ip', id: '192.0.2.1' } }),
    `auto-${Buffer.from(field).toString('base64url')}`,
  ];
});
afterAll(async () => {
  await api?.stop();
  redis?.disconnect();
  await Promise.all([postgres?.stop(), redisServer?.stop()]);
});

const MISSING = '00000000-0000-4000-8000-000000000000';
const withoutId = ({ body }: SpecAnswer): object => ({ ...body, requestId: '' });

// Fails when a route reads a row by its id and leaves requireVisible out.
it('P18 answers a foreign override like a missing one, on every route', async () => {
  for (const [method, suffix, body] of [['GET', '', undefined], ['PATCH', '', { reason: 'mine now' }], ['DELETE', '', undefined], ['POST', '/revert', { reason: 'mine now' }]] as const) {
    const send = (id: string) => api.call(method, `/v1/overrides/${id}${suffix}`, { token, ifMatch: 1, ...(body ? { body } : {}) });
    const [foreign, missing] = [await send(foreignOverride), await send(MISSING)];
    expect([method, foreign.status]).toEqual([method, 404]);
    expect(withoutId(foreign)).toEqual(withoutId(missing));
  }
  expect((await api.call('POST', '/v1/overrides', { token, body: { tenant: 'globex', set: { concurrency: 1 }, reason: 'mine now' } })).status).toBe(404);
});

// Fails when requireVisible is left out for either kind, or lets an entry about everyone pass.
it('P18 answers a foreign penalty like a missing one, of both kinds, and keeps it', async () => {
  const missing = `auto-${Buffer.from(JSON.stringify(['globex', 'per-minute', 'user', 'bob'])).toString('base64url')}`;
  for (const id of foreignPenalties) {
    for (const [method, suffix] of [['GET', ''], ['DELETE', '?reason=mine']] as const) {
      const answers = await Promise.all([id, id.startsWith('auto-') ? missing : MISSING].map((each) => api.call(method, `/v1/penalties/${each}${suffix}`, { token, ifMatch: 1 })));
      expect(answers.map(({ status }) => status)).toEqual([404, 404]);
      expect(withoutId(answers[0] as SpecAnswer)).toEqual(withoutId(answers[1] as SpecAnswer));
    }
    expect((await api.call('GET', `/v1/penalties/${id}`)).status).toBe(200);
  }
  const body = { subject: { scope: 'user', id: 'ann' }, until: '2999-01-01T00:00:00Z', reason: 'mine now' };
  for (const tenant of ['globex', null]) expect((await api.call('POST', '/v1/penalties', { token, body: { ...body, tenant } })).status).toBe(404);
  expect((await api.call('POST', '/v1/penalties', { token, body: { ...body, tenant: 'acme' } })).status).toBe(201);
  expect((await api.call('GET', '/v1/lists', { token })).status).toBe(403);
});

it('P18 shows a bound token its own tenant in every list, and nothing of the others', async () => {
  const offenders = new OffenderLog({ redis, storeNow: () => Date.now() });
  for (const tenant of ['acme', 'globex']) offenders.record({ tenant, scope: 'tenant', subject: tenant, limit: 'per-minute', class: 'default' });
  await offenders.flush();
  for (const path of ['/v1/tenants', '/v1/usage', '/v1/usage/export?format=ndjson', '/v1/offenders', '/v1/overrides', '/v1/penalties']) {
    const { status, text } = await api.call('GET', path, { token });
    expect([path, status, text.includes('globex')]).toEqual([path, 200, false]);
    if (path !== '/v1/overrides') expect([path, text.includes('acme')]).toEqual([path, true]);
  }
  expect((await api.call('GET', '/v1/offenders', { token })).body).toMatchObject({ items: [{ tenant: 'acme', share: 1 }] });
});

it('does not let a bound token create tenants or move itself elsewhere by slug', async () => {
  expect((await api.call('POST', '/v1/tenants', { token, body: { slug: 'mine', name: 'Mine', tier: 'free' } })).status).toBe(403);
  expect((await api.call('GET', '/v1/tenants/globex/keys', { token })).status).toBe(404);
});
