import { LISTS_MAX, listsDocumentSchema, redisKeys, type ListsDocument } from '@quotaplane/contracts';
import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PrismaService } from '../database/prisma.service';
import { startSpecApp, type SpecAnswer, type SpecApp } from '../http/spec-app';
import { OutboxRig } from '../outbox/outbox-rig';

let postgres: TestPostgres;
let redisServer: TestRedis;
let api: SpecApp;
let rig: OutboxRig;
let keyId: string;
let foreignKeyId: string;
beforeAll(async () => {
  [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
  api = await startSpecApp({ databaseUrl: postgres.url, redisUrl: redisServer.url });
  rig = await OutboxRig.over({ postgres, redisServer });
  const tier = await rig.tier('free');
  [keyId = '', foreignKeyId = ''] = await Promise.all(['acme', 'globex'].map(async (slug) => {
    await rig.tenant(slug, tier);
    return String((await api.call('POST', `/v1/tenants/${slug}/keys`, { body: { name: 'ci' } })).body.id);
  }));
});
afterAll(async () => {
  await api?.stop();
  await rig?.stop();
  await Promise.all([postgres?.stop(), redisServer?.stop()]);
});

const DENY = { list: 'deny', tenant: null, subject: { scope: 'ip', id: '192.0.2.77/24' }, reason: 'scanner' };
const post = (more: object = {}): Promise<SpecAnswer> => api.call('POST', '/v1/lists', { body: { ...DENY, ...more } });
const pointersOf = ({ body }: SpecAnswer): string[] => (body.errors ?? []).map(({ pointer }) => pointer);
const published = async (): Promise<ListsDocument> => {
  await rig.relay().drain();
  return listsDocumentSchema.parse(JSON.parse((await rig.redis.get(redisKeys.lists)) ?? 'null'));
};
const entryOf = async (id: string | undefined) => (await published()).entries.find((entry) => entry.id === id);

// Mutation: publish without the change's topic, or leave the range as typed, and guards never match it.
it('publishes an entry with its change, announces it, and takes it away when it is lifted', async () => {
  const made = await post();
  expect(made).toMatchObject({ status: 201, body: { list: 'deny', tenant: null, subject: { scope: 'ip', id: '192.0.2.0/24' }, state: 'active', until: null, liftedBy: null } });
  expect(await entryOf(made.body.id)).toEqual({ id: made.body.id, list: 'deny', tenant: null, scope: 'ip', subject: '192.0.2.0/24', fromMs: null, untilMs: null });
  const [last] = await rig.redis.xrevrange(redisKeys.changes, '+', '-', 'COUNT', 1);
  expect(last?.[1].slice(0, 2)).toEqual(['topic', 'lists']);
  expect(await api.call('GET', `/v1/changes/${made.body.changeId}`)).toMatchObject({ body: { state: 'published' } });

  const path = `/v1/lists/${made.body.id}`;
  expect((await api.call('DELETE', path, { ifMatch: 1 })).status).toBe(422);
  expect((await api.call('DELETE', `${path}?reason=over+now`)).status).toBe(428);
  expect((await api.call('DELETE', `${path}?reason=over+now`, { ifMatch: 9 })).status).toBe(412);
  expect(await api.call('DELETE', `${path}?reason=over+now`, { ifMatch: 1 })).toMatchObject({ status: 200, body: { state: 'lifted', liftedBy: 'bootstrap', version: 2 } });
  expect((await api.call('DELETE', `${path}?reason=over+now`, { ifMatch: 2 })).status).toBe(409);
  expect(await entryOf(made.body.id)).toBeUndefined();
  const audit = (await api.call('GET', '/v1/audit?action=list.lift')).body.items?.[0];
  expect(audit).toMatchObject({ reason: 'over now', before: { state: 'active' }, after: { state: 'lifted' } });
});

it('knows tenants, keys, users and addresses, and when they begin and end', async () => {
  const [from, until] = ['2998-01-01T00:00:00.000Z', '2999-01-01T00:00:00.000Z'];
  const subjects = [
    [{ tenant: 'acme', subject: { scope: 'tenant' } }, { tenant: 'acme', scope: 'tenant', subject: '' }],
    [{ tenant: 'acme', subject: { scope: 'key', id: keyId.toUpperCase() } }, { tenant: 'acme', scope: 'key', subject: keyId }],
    [{ tenant: null, subject: { scope: 'key', id: foreignKeyId } }, { tenant: null, scope: 'key', subject: foreignKeyId }],
    [{ tenant: 'acme', subject: { scope: 'user', id: 'ann' } }, { tenant: 'acme', scope: 'user', subject: 'ann' }],
    [{ subject: { scope: 'ip', id: '2001:DB8::1' } }, { tenant: null, scope: 'ip', subject: '2001:db8::/64' }],
  ] as const;
  for (const [body, entry] of subjects) {
    const made = await post({ ...body, list: 'allow', from, until });
    expect(made).toMatchObject({ status: 201, body: { state: 'scheduled', from, until } });
    expect(await entryOf(made.body.id)).toMatchObject({ ...entry, list: 'allow', fromMs: Date.parse(from), untilMs: Date.parse(until) });
  }
  expect((await api.call('GET', '/v1/lists?list=allow&state=scheduled&tenant=acme')).body.items).toHaveLength(3);
});

it('refuses each bad field by its pointer, and a foreign key like a missing one', async () => {
  const refused = await Promise.all([
    post({ reason: '' }), post({ subject: { scope: 'tenant' } }), post({ subject: { scope: 'ip', id: '192.0.2.0/40' } }), post({ until: '2001-01-01T00:00:00Z' }),
    post({ list: 'penalty' }), post({ tenant: 'nobody' }), post({ tenant: 'acme', subject: { scope: 'key', id: foreignKeyId } }),
    post({ tenant: 'acme', subject: { scope: 'key', id: '00000000-0000-4000-8000-000000000000' } }),
  ]);
  expect(refused.map((answer) => [answer.status, ...pointersOf(answer)])).toEqual([
    [422, '/reason'], [422, '/tenant'], [422, '/subject/id'], [422, '/until'], [422, '/list'], [404, '/tenant'], [404, '/subject/id'], [404, '/subject/id'],
  ]);
});

it('shuts none of the platform\'s own tenants out as a whole', async () => {
  await rig.tenant('platform', await rig.tier('internal'));
  expect(pointersOf(await post({ tenant: 'platform', subject: { scope: 'tenant' } }))).toEqual(['/tenant']);
  expect((await post({ list: 'allow', tenant: 'platform', subject: { scope: 'tenant' } })).status).toBe(201);
});

// Mutation: check the version before the update instead of in it, and two lifts of one entry may both succeed.
it('P16 lifts an entry once in 40 races, of both kinds', async () => {
  for (const [path, body] of [['/v1/lists', DENY], ['/v1/penalties', { tenant: 'acme', subject: { scope: 'user', id: 'ann' }, reason: 'loud', until: '2999-01-01T00:00:00Z' }]] as const) {
    for (let round = 0; round < 20; round += 1) {
      const { id } = (await api.call('POST', path, { body })).body;
      const answers = await Promise.all([1, 2].map(() => api.call('DELETE', `${path}/${id}?reason=race`, { ifMatch: 1 })));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
    }
  }
});

it('P15 makes one entry of 50 parallel sends with one Idempotency-Key', async () => {
  const prisma = api.app.get(PrismaService);
  for (const [path, body] of [['/v1/lists', { ...DENY, reason: 'sent often' }], ['/v1/penalties', { ...DENY, list: undefined, reason: 'sent often', until: '2999-01-01T00:00:00Z' }]] as const) {
    const before = await prisma.listEntry.count({ where: { reason: 'sent often' } });
    const answers = await Promise.all(Array.from({ length: 50 }, () => api.call('POST', path, { body, headers: { 'idempotency-key': `often-${path}` } })));
    expect(await prisma.listEntry.count({ where: { reason: 'sent often' } })).toBe(before + 1);
    expect(new Set(answers.filter(({ status }) => status === 201).map(({ body: { id } }) => id)).size).toBe(1);
    for (const { status } of answers) expect([201, 409]).toContain(status);
    expect((await api.call('POST', path, { body: { ...body, reason: 'another' }, headers: { 'idempotency-key': `often-${path}` } })).status).toBe(422);
  }
});

// Mutation: count without the lock, or forget the penalties, and the document passes what guards take.
it('takes at most 10,000 entries that run or are to come, of all lists together, and none that have ended count', async () => {
  const prisma = api.app.get(PrismaService);
  await prisma.listEntry.deleteMany();
  const fill = (count: number, until: string): Promise<number> => prisma.$executeRaw`
    INSERT INTO list_entries (id, list, scope, subject, reason, from_at, until_at, created_by, updated_at)
    SELECT gen_random_uuid(), CASE WHEN n % 2 = 0 THEN 'deny' ELSE 'penalty' END, 'user', 'u' || n, 'full', now(), now() + ${until}::interval, 'spec', now()
    FROM generate_series(1, ${count}::int) n`;
  await fill(50, '-1 second');
  await fill(LISTS_MAX - 1, '1 hour');
  const answers = await Promise.all([post(), post(), api.call('POST', '/v1/penalties', { body: { ...DENY, list: undefined, until: '2999-01-01T00:00:00Z' } })]);
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({ code: 'conflict', detail: expect.stringContaining('10000 entries') });
  expect((await published()).entries).toHaveLength(LISTS_MAX);
  await prisma.listEntry.deleteMany();
});
