import { redisKeys } from '@quotaplane/contracts';
import { hashSecret, hasValidChecksum } from '@quotaplane/guard';
import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { periodAt } from '@quotaplane/usage';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ChangesService } from '../audit/changes.service';
import { Clock } from '../config/clock';
import { PrismaService } from '../database/prisma.service';
import { startSpecApp, type SpecApp } from '../http/spec-app';
import { eventually, SpecWorker } from '../outbox/worker-rig';
import { Seeder } from '../seed/seeder';

let postgres: TestPostgres;
let redisServer: TestRedis;
let api: SpecApp;
let worker: SpecWorker;
let prisma: PrismaService;
let redis: Redis;
beforeAll(async () => {
  [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
  const stores = { databaseUrl: postgres.url, redisUrl: redisServer.url };
  redis = new Redis(redisServer.url);
  api = await startSpecApp(stores);
  prisma = api.app.get(PrismaService);
  await new Seeder(prisma, api.app.get(ChangesService), new Clock()).run({ withDemo: true });
  worker = await SpecWorker.start(stores);
});
afterAll(async () => {
  await api?.stop();
  await worker?.stop();
  redis?.disconnect();
  await Promise.all([postgres?.stop(), redisServer?.stop()]);
});

const create = (slug: string, more: object = {}) => api.call('POST', '/v1/tenants', { body: { slug, name: `The ${slug}`, tier: 'free', ...more } });
const slugsOf = async (query: string): Promise<string[]> => (await api.call('GET', `/v1/tenants?${query}`)).body['items']?.map((item) => item['slug'] ?? '') ?? [];

it('creates, edits and moves a tenant, and a change of tier counts at once', async () => {
  expect(await create('walk', { timezone: 'Asia/Kolkata', anchorDay: 31 })).toMatchObject({ status: 201, body: { slug: 'walk', tier: 'free', version: 1, scheduledTier: null } });
  expect(await api.call('PATCH', '/v1/tenants/walk', { ifMatch: 1, body: { name: 'Walker', tier: 'pro' } })).toMatchObject({ status: 200, body: { name: 'Walker', tier: 'pro', version: 2 } });
  await eventually(async () => (await redis.get(redisKeys.policy('walk')))?.includes('"tier":"pro"'));
  expect(await api.call('PUT', '/v1/tenants/walk/tier', { ifMatch: 2, body: { tier: 'enterprise', effectiveAt: 'period-end', reason: 'contract' } }))
    .toMatchObject({ status: 200, body: { tier: 'pro', scheduledTier: { tier: 'enterprise', effectiveAt: new Date(periodAt({ timezone: 'Asia/Kolkata', anchorDay: 31, nowMs: Date.now() }).endMs).toISOString() } } });
  const policy = await eventually(async () => JSON.parse((await redis.get(redisKeys.policy('walk'))) ?? 'null') as { segments: { tier: string }[] } | null);
  expect(new Set(policy.segments.map(({ tier }) => tier)).has('pro')).toBe(true);
  expect(await api.call('PUT', '/v1/tenants/walk/tier', { ifMatch: 3, body: { tier: 'free', reason: 'never mind' } })).toMatchObject({ status: 200, body: { tier: 'free', scheduledTier: null } });
});

it('names the field that cannot be', async () => {
  const refused = async (body: object): Promise<unknown> => {
    const answer = await api.call('POST', '/v1/tenants', { body: { slug: 'bad', name: 'Bad', tier: 'free', ...body } });
    return [answer.status, answer.body['errors']?.map((error) => error['pointer'])];
  };
  expect(await refused({ slug: 'platform' })).toEqual([422, ['/slug']]);
  expect(await refused({ timezone: 'Mars/Olympus' })).toEqual([422, ['/timezone']]);
  expect(await refused({ timezone: '+02:00' })).toEqual([422, ['/timezone']]);
  expect(await refused({ tier: 'gold' })).toEqual([422, ['/tier']]);
  expect((await create('acme')).status).toBe(409);
  const past = await api.call('PUT', '/v1/tenants/acme/tier', { ifMatch: 1, body: { tier: 'free', effectiveAt: '2020-01-01T00:00:00Z', reason: 'try it' } });
  expect(past.body['errors']?.[0]?.['pointer']).toBe('/effectiveAt');
});

it('deletes softly: usage and audit stay, keys stop, and the slug is never given again', async () => {
  await create('leaver');
  const key = await api.call('POST', '/v1/tenants/leaver/keys', { body: { name: 'ci' } });
  await prisma.usageJournal.create({ data: { incarnation: 'spec', tenant: 'leaver', meter: 'requests', periodId: periodAt({ timezone: 'UTC', anchorDay: 1, nowMs: Date.now() }).id, part: 1, class: 'default', generation: 1, admitted: 9n } });
  await eventually(async () => (await redis.get(redisKeys.key(hashSecret(String(key.body['secret'])))))?.includes('leaver'));
  expect((await api.call('DELETE', '/v1/tenants/leaver', { ifMatch: 1 })).status).toBe(200);
  expect((await api.call('GET', '/v1/tenants/leaver')).status).toBe(404);
  await eventually(async () => (await redis.get(redisKeys.head('leaver'))) === 'deleted');
  await eventually(async () => (await redis.get(redisKeys.key(hashSecret(String(key.body['secret']))))) === 'none');
  expect((await api.call('GET', '/v1/usage?tenant=leaver')).body).toMatchObject({ items: [{ used: '9' }] });
  expect((await create('leaver')).status).toBe(409);
  expect((await api.call('DELETE', '/v1/tenants/platform', { ifMatch: 1 })).status).toBe(409);
});

it('shows a key\'s secret once and keeps only its hash; service keys are the platform\'s', async () => {
  const made = await api.call('POST', '/v1/tenants/acme/keys', { body: { name: 'ci' }, headers: { 'idempotency-key': 'key-1' } });
  const secret = String(made.body['secret']);
  expect([made.status, hasValidChecksum(secret), secret.startsWith(String(made.body['hint']))]).toEqual([201, true, true]);
  const again = await api.call('POST', '/v1/tenants/acme/keys', { body: { name: 'ci' }, headers: { 'idempotency-key': 'key-1' } });
  expect([again.body['id'], again.body['secret']]).toEqual([made.body['id'], undefined]);
  expect((await prisma.apiKey.findUniqueOrThrow({ where: { id: String(made.body['id']) } })).secretHash).toBe(hashSecret(secret));
  expect((await api.call('GET', '/v1/audit?tenant=acme')).text).not.toContain(secret);
  expect((await api.call('POST', '/v1/tenants/acme/keys', { body: { name: 'svc', kind: 'service' } })).status).toBe(422);
  expect((await api.call('POST', '/v1/tenants/platform/keys', { body: { name: 'svc', kind: 'service' } })).status).toBe(201);
  const path = `/v1/tenants/acme/keys/${made.body['id'] ?? ''}`;
  expect((await api.call('GET', path.replace('acme', 'globex'))).status).toBe(404);
  expect(await api.call('DELETE', path, { ifMatch: 1 })).toMatchObject({ status: 200, body: { version: 2 } });
  await eventually(async () => (await redis.get(redisKeys.key(hashSecret(secret)))) === 'none', 2_000);
});

// Mutation: the order is by created_at alone: rows of one instant then move between pages.
it('C074 gives 1,000 rows of one instant on pages of 50, each once', async () => {
  const createdAt = new Date(Date.UTC(2024, 0, 1));
  const tier = await prisma.tier.findUniqueOrThrow({ where: { slug: 'free' } });
  const slugs = Array.from({ length: 1000 }, (_, index) => `same-${index}`);
  await prisma.tenant.createMany({ data: slugs.map((slug) => ({ slug, name: 'Same', createdAt })) });
  const rows = await prisma.tenant.findMany({ where: { slug: { startsWith: 'same-' } }, select: { id: true } });
  await prisma.tierAssignment.createMany({ data: rows.map(({ id }) => ({ tenantId: id, tierId: tier.id, effectiveAt: createdAt, createdAt, createdBy: 'spec' })) });
  for (const sort of ['createdAt', '-name', '-monthUsed']) {
    const seen: string[] = [];
    for (let cursor = ''; ;) {
      const { body } = await api.call('GET', `/v1/tenants?q=same-&limit=50&sort=${sort}${cursor ? `&cursor=${cursor}` : ''}`);
      seen.push(...(body['items']?.map((item) => item['slug'] ?? '') ?? []));
      if (!body['nextCursor']) break;
      cursor = String(body['nextCursor']);
    }
    expect([seen.length, new Set(seen).size]).toEqual([1000, 1000]);
  }
}, 60_000);

it('searches, filters and sorts on the server, with the figures ops look at', async () => {
  expect(await slugsOf('q=GLOB')).toEqual(['globex']);
  expect(await slugsOf('q=Hobby%20Wea')).toEqual(['hobby']);
  expect(await slugsOf('q=100%25')).toEqual([]);
  expect(await slugsOf('tier=internal&limit=200')).toEqual(['billing-sync', 'platform', 'status-page']);
  const { id } = periodAt({ timezone: 'America/New_York', anchorDay: 1, nowMs: Date.now() });
  await prisma.usageJournal.create({ data: { incarnation: 'spec', tenant: 'acme', meter: 'requests', periodId: id, part: 1, class: 'default', generation: 1, admitted: 12345n, refunded: 5n } });
  await prisma.trafficMinute.create({ data: { tenant: 'acme', minute: new Date(Date.now() - 600_000), denied: 4n } });
  await api.call('POST', '/v1/overrides', { body: { tenant: 'acme', set: { concurrency: 60 }, reason: 'more slots' } });
  const { body } = await api.call('GET', '/v1/tenants?sort=-monthUsed&limit=1');
  expect(body['items']?.[0]).toMatchObject({ slug: 'acme', monthUsed: '12340', monthAllowance: '10000000', deniedLastHour: 4, activeOverrides: 1 });
});

// Mutation: the edit writes the whole row it has read: the worker's revision and what was counted would go back.
it('C012 keeps what 100 publishes and counts did while a tenant is renamed', async () => {
  await create('busy');
  const { id } = await prisma.tenant.findUniqueOrThrow({ where: { slug: 'busy' } });
  let version = 1;
  const work = Array.from({ length: 100 }, () => prisma.tenant.update({ where: { id }, data: { revision: { increment: 1 } } }));
  for (let index = 0; index < 5; index += 1) {
    const answer = await api.call('PATCH', '/v1/tenants/busy', { ifMatch: version, body: { name: `Busy ${index}` } });
    version = answer.body['version'] ?? 0;
  }
  await Promise.all(work);
  const row = await prisma.tenant.findUniqueOrThrow({ where: { id } });
  expect([row.revision >= 100, row.name, row.version]).toEqual([true, 'Busy 4', 6]);
});

// Mutation: the unique violation is not turned into a conflict.
it('C073 makes one row of 50 parallel creations and one move of 20 parallel ones', async () => {
  const made = await Promise.all(Array.from({ length: 50 }, () => create('twin')));
  expect(made.filter(({ status }) => status === 201).length).toBe(1);
  expect(new Set(made.map(({ status }) => status))).toEqual(new Set([201, 409]));
  const moved = await Promise.all(Array.from({ length: 20 }, () => api.call('PUT', '/v1/tenants/twin/tier', { ifMatch: 1, body: { tier: 'pro', reason: 'upgrade' } })));
  expect(moved.filter(({ status }) => status === 200).length).toBe(1);
  expect(new Set(moved.map(({ status }) => status))).toEqual(new Set([200, 412]));
}, 60_000);

// Mutation: a route writes without ChangesService: its answer then has no entry.
it('C079 writes exactly one audit entry for each mutating call, and none without its change', async () => {
  const made: string[] = [];
  const call = async (...request: Parameters<SpecApp['call']>): Promise<Awaited<ReturnType<SpecApp['call']>>> => {
    const answer = await api.call(...request);
    expect([request[1], answer.status < 300]).toEqual([request[1], true]);
    made.push(answer.body['changeId'] ?? '');
    return answer;
  };
  await call('POST', '/v1/tenants', { body: { slug: 'audited', name: 'Audited', tier: 'free' } });
  await call('PATCH', '/v1/tenants/audited', { ifMatch: 1, body: { name: 'Again' } });
  await call('PUT', '/v1/tenants/audited/tier', { ifMatch: 2, body: { tier: 'pro', reason: 'upgrade' } });
  const key = await call('POST', '/v1/tenants/audited/keys', { body: { name: 'k' } });
  await call('DELETE', `/v1/tenants/audited/keys/${key.body['id'] ?? ''}`, { ifMatch: 1 });
  const first = await call('POST', '/v1/overrides', { body: { tenant: 'audited', set: { concurrency: 99 }, reason: 'raise it' } });
  await call('PATCH', `/v1/overrides/${first.body['id'] ?? ''}`, { ifMatch: 1, body: { reason: 'longer', ticket: 'OPS-2' } });
  await call('POST', `/v1/overrides/${first.body['id'] ?? ''}/revert`, { body: { reason: 'over now' } });
  const second = await call('POST', '/v1/overrides', { body: { tenant: 'audited', set: { concurrency: 98 }, reason: 'raise it' } });
  await call('DELETE', `/v1/overrides/${second.body['id'] ?? ''}`, { ifMatch: 1 });
  await call('DELETE', '/v1/tenants/audited', { ifMatch: 3 });
  const entries = await prisma.auditEntry.findMany({ where: { tenant: 'audited' }, orderBy: { seq: 'asc' } });
  expect(entries.map(({ changeId }) => changeId)).toEqual(made);
  expect(entries.map(({ action }) => action)).toEqual([
    'tenant.create', 'tenant.update', 'tenant.move', 'key.create', 'key.revoke', 'override.create', 'override.update', 'override.revert', 'override.create', 'override.delete', 'tenant.delete',
  ]);
  await prisma.$executeRaw`ALTER TABLE audit_entries ADD CONSTRAINT full_log CHECK (false) NOT VALID`;
  const broken = await create('unaudited');
  await prisma.$executeRaw`ALTER TABLE audit_entries DROP CONSTRAINT full_log`;
  expect(broken.status).toBeGreaterThanOrEqual(500);
  expect(await prisma.tenant.findUnique({ where: { slug: 'unaudited' } })).toBeNull();
});

// Mutation: drop the refine of tenantCursor, and Postgres fails to read the key as a number: 500.
it.each([
  ['createdAt', 'soon', 'a'], ['-createdAt', '1e9', 'a'], ['monthUsed', 'NaN', 'a'], ['-monthUsed', '9'.repeat(40), 'a'], ['slug', 'a\u0000b', 'a'], ['name', 'a', '\ud800'],
])('points at a cursor of %s with an impossible place', async (sort, key, slug) => {
  const cursor = Buffer.from(JSON.stringify([sort, key, slug])).toString('base64url');
  expect(await api.call('GET', `/v1/tenants?sort=${sort}&cursor=${cursor}`)).toMatchObject({ status: 422, body: { errors: [{ pointer: '/query/cursor' }] } });
});
