import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PrismaService } from '../database/prisma.service';
import { startSpecApp, type SpecAnswer, type SpecApp } from '../http/spec-app';
import { readPolicyRows, readSubjectOverrides } from '../outbox/policy-rows';

let postgres: TestPostgres;
let redis: TestRedis;
let api: SpecApp;
let keyId: string;
let foreignKeyId: string;
beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  api = await startSpecApp({ databaseUrl: postgres.url, redisUrl: redis.url });
  await api.call('POST', '/v1/tiers', { body: { slug: 'layered', name: 'Layered' } });
  const limits = [
    { name: 'per-tenant', algorithm: 'token-bucket', scope: 'tenant', limit: 100, windowMs: 60_000 },
    { name: 'per-key', algorithm: 'sliding-log', scope: 'key', limit: 10, windowMs: 60_000 },
    { name: 'per-user', algorithm: 'gcra', scope: 'user', limit: 10, windowMs: 60_000 },
    { name: 'per-address', algorithm: 'fixed-window', scope: 'ip', limit: 10, windowMs: 60_000 },
  ];
  await api.call('PUT', '/v1/tiers/layered/draft', { body: { limits, quotas: [{ meter: 'requests', allowance: 5, overage: 'reject' }] }, ifMatch: 0 });
  await api.call('POST', '/v1/tiers/layered/publish', { body: {} });
  const keys = await Promise.all(['acme', 'globex'].map(async (slug) => {
    await api.call('POST', '/v1/tenants', { body: { slug, name: slug, tier: 'layered' } });
    return String((await api.call('POST', `/v1/tenants/${slug}/keys`, { body: { name: 'ci' } })).body.id);
  }));
  [keyId = '', foreignKeyId = ''] = keys;
});
afterAll(async () => {
  await api?.stop();
  await Promise.all([postgres?.stop(), redis?.stop()]);
});

const MISSING = '00000000-0000-4000-8000-000000000000';
const post = (subject: object, set: object, more: object = {}): Promise<SpecAnswer> =>
  api.call('POST', '/v1/overrides', { body: { tenant: 'acme', subject, set, reason: 'one of them', ...more } });
const pointersOf = ({ body }: SpecAnswer): string[] => (body.errors ?? []).map(({ pointer }) => pointer);

it('keeps an override of one key, user or address, and finds it by its subject', async () => {
  const subjects = [
    [{ scope: 'key', id: keyId }, 'per-key', `key:${keyId.toUpperCase()}`],
    [{ scope: 'user', id: 'ann:1' }, 'per-user', 'user:ann:1'],
    [{ scope: 'ip', id: '192.0.2.7' }, 'per-address', 'ip:::ffff:192.0.2.7'],
  ] as const;
  for (const [subject, limit, filter] of subjects) {
    const made = await post(subject, { limits: { [limit]: { limit: 50 } } });
    expect(made).toMatchObject({ status: 201, body: { subject, state: 'active', dangling: [] } });
    expect((await api.call('GET', `/v1/overrides?tenant=acme&subject=${encodeURIComponent(filter)}`)).body.items?.map(({ id }) => id)).toEqual([made.body.id]);
    expect((await api.call('GET', `/v1/overrides/${made.body.id}`)).body['subject']).toEqual(subject);
  }
  expect((await api.call('GET', '/v1/overrides?subject=tenant')).body.items).toEqual([]);
  expect((await api.call('GET', '/v1/overrides?subject=single')).body.items).toHaveLength(3);
  expect(pointersOf(await api.call('GET', '/v1/overrides?subject=colour:red'))).toEqual(['/query/subject']);
  expect((await api.call('GET', '/v1/tenants/acme/policy')).body['subjects']).toEqual({ key: 1, user: 1, ip: 1 });
});

// Mutation: keep the address as it was typed, and guards, who count by /64, never find it.
it('keeps an address in the form that guards count by', async () => {
  for (const [typed, kept] of [['2001:DB8:0:0::9', '2001:db8::/64'], ['2001:db8:1::9/56', '2001:db8:1::/56'], ['::ffff:192.0.2.8', '192.0.2.8']] as const) {
    expect((await post({ scope: 'ip', id: typed }, { limits: { 'per-address': { limit: 50 } } })).body['subject']).toEqual({ scope: 'ip', id: kept });
  }
  expect(pointersOf(await post({ scope: 'ip', id: 'here' }, { limits: { 'per-address': { limit: 50 } } }))).toEqual(['/subject/id']);
});

it('refuses limits of another scope, concurrency and quotas, each by its name, also on an edit', async () => {
  const set = { limits: { 'per-tenant': { limit: 500 } }, concurrency: 5, quotas: { requests: { allowance: 9 } } };
  const refused = await post({ scope: 'user', id: 'ann' }, set);
  expect([refused.status, pointersOf(refused)]).toEqual([422, ['/set/limits/per-tenant', '/set/concurrency', '/set/quotas']]);
  const { body } = await post({ scope: 'user', id: 'bob' }, { limits: { 'per-user': { limit: 20 } } });
  const edit = await api.call('PATCH', `/v1/overrides/${body.id}`, { ifMatch: 1, body: { set: { limits: { 'per-key': { limit: 20 } } }, reason: 'other limit' } });
  expect([edit.status, pointersOf(edit)]).toEqual([422, ['/set/limits/per-key']]);
});

// Mutation: look the key up by its id alone, and one tenant's override names another's key.
it('answers a foreign key like a missing one, and refuses a revoked one', async () => {
  const set = { limits: { 'per-key': { limit: 20 } } };
  const [foreign, missing] = [await post({ scope: 'key', id: foreignKeyId }, set), await post({ scope: 'key', id: MISSING }, set)];
  expect([foreign.status, pointersOf(foreign)]).toEqual([404, ['/subject/id']]);
  expect({ ...foreign.body, requestId: '' }).toEqual({ ...missing.body, requestId: '' });
  const { body } = await api.call('POST', '/v1/tenants/acme/keys', { body: { name: 'old' } });
  await api.call('DELETE', `/v1/tenants/acme/keys/${body.id}`, { ifMatch: 1 });
  expect(pointersOf(await post({ scope: 'key', id: body.id }, set))).toEqual(['/subject/id']);
});

it('holds a raised log to 10,000 entries, for one key as for the tenant', async () => {
  for (const subject of [{ scope: 'key', id: keyId }, { scope: 'tenant' }]) {
    const refused = await post(subject, { limits: { 'per-key': { limit: 10_001 } } });
    expect([refused.status, pointersOf(refused)]).toEqual([422, ['/set/limits/per-key/limit']]);
  }
});

// Mutation: leave `subjectField` out of readPolicyRows, and one user's numbers become the tenant's.
it('keeps single subjects apart from the tenant when a policy is made', async () => {
  const prisma = api.app.get(PrismaService);
  const [rows] = await readPolicyRows(prisma, ['acme'], { overrides: 'pending', now: new Date() });
  expect(rows?.overrides).toEqual([]);
  const subjects = (await readSubjectOverrides(prisma, [rows?.id ?? ''], new Date())).get(rows?.id ?? '');
  expect(subjects?.get('user:ann:1')).toMatchObject([{ mode: 'at-least', set: { limits: { 'per-user': { limit: 50 } } } }]);
  expect(subjects?.has('ip:2001:db8::/64')).toBe(true);
});

it('pages 2,000 subjects of one tenant once each', async () => {
  const prisma = api.app.get(PrismaService);
  const { id: tenantId } = await prisma.tenant.findUniqueOrThrow({ where: { slug: 'globex' } });
  const now = new Date();
  await prisma.override.createMany({
    data: Array.from({ length: 2_000 }, (_, index) => ({
      tenantId, subject: { scope: 'user', id: `u${index}` }, subjectField: `user:u${index}`, mode: 'exactly', set: { limits: { 'per-user': { limit: index } } }, reason: 'spec', from: now, createdAt: now, createdBy: 'spec',
    })),
  });
  const seen = new Set<string>();
  for (let cursor: string | null | undefined = ''; cursor !== null && cursor !== undefined;) {
    const { body }: SpecAnswer = await api.call('GET', `/v1/overrides?tenant=globex&limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`);
    for (const { id } of body.items ?? []) seen.add(id ?? '');
    cursor = body.nextCursor;
  }
  expect(seen.size).toBe(2_000);
  expect((await api.call('GET', '/v1/tenants/globex/policy')).body['subjects']).toEqual({ key: 0, user: 2_000, ip: 0 });
});
