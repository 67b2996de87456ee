import { createHash } from 'node:crypto';
import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PrismaService } from '../database/prisma.service';
import { startSpecApp, type SpecAnswer, type SpecApp } from '../http/spec-app';

let postgres: TestPostgres;
let redis: TestRedis;
let api: SpecApp;
let prisma: PrismaService;
beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  api = await startSpecApp({ databaseUrl: postgres.url, redisUrl: redis.url });
  prisma = api.app.get(PrismaService);
});
afterAll(async () => {
  await api?.stop();
  await Promise.all([postgres?.stop(), redis?.stop()]);
});

const perMinute = (more: object = {}): object => ({ name: 'per-minute', algorithm: 'token-bucket', scope: 'tenant', limit: 100, windowMs: 60_000, burst: 20, ...more });
const content = (limits: readonly object[], quotas: readonly object[] = []): object => ({ limits, quotas });

async function create(slug: string): Promise<string> {
  expect((await api.call('POST', '/v1/tiers', { body: { slug, name: slug } })).status).toBe(201);
  return `/v1/tiers/${slug}`;
}

async function putDraft(path: string, body: object, ifMatch = 0): Promise<SpecAnswer> {
  return api.call('PUT', `${path}/draft`, { body, ifMatch });
}

describe('a draft', () => {
  // Mutation: let windowMs start at 0 in libs/contracts, or drop the pointer's index, and this fails.
  it('C043 refuses a window of 0 naming the field, and takes a limit of 0', async () => {
    const path = await create('zero');
    const refused = await putDraft(path, content([perMinute(), perMinute({ name: 'other', windowMs: 0 })]));
    expect(refused).toMatchObject({ status: 422, body: { code: 'invalid', errors: [{ pointer: '/limits/1/windowMs' }] } });
    expect((await putDraft(path, content([perMinute({ limit: 0, burst: undefined })]))).status).toBe(200);
  });

  // Mutation: raise MAX_WINDOW_MS and the month passes as a limit.
  it('C047 refuses a window of 30 days: that is a quota', async () => {
    const refused = await putDraft(await create('month'), content([perMinute({ windowMs: 30 * 86_400_000, limit: 1 })]));
    expect(refused.body.errors).toEqual([{ pointer: '/limits/0/windowMs', detail: expect.stringContaining('a longer allowance is a quota') }]);
  });

  it('names every bad field at once, unknown ones too', async () => {
    const bad = content([perMinute({ limit: -1, windowMs: 1.5, colour: 'red' }), { name: 'X' }], [{ meter: 'requests', allowance: '5', overage: 'throttle' }]);
    const { body } = await putDraft(await create('many'), { ...bad, surprise: 1 });
    const pointers = (body.errors ?? []).map(({ pointer }) => pointer);
    expect(pointers).toEqual(expect.arrayContaining([
      '/limits/0/limit', '/limits/0/windowMs', '/limits/0/colour', '/limits/1/name', '/limits/1/algorithm', '/limits/1/scope', '/limits/1/limit', '/limits/1/windowMs',
      '/quotas/0/allowance', '/surprise',
    ]));
  });

  it('takes every algorithm with its own fields, shadows and penalties, and gives them back as they were put', async () => {
    const penalty = { strikes: 10, withinMs: 60_000, banMs: 60_000, factor: 3, maxBanMs: 600_000, forgiveAfterMs: 3_600_000 };
    const limits = [
      perMinute({ name: 'bucket', penalty }),
      perMinute({ name: 'cells', algorithm: 'gcra', mode: 'shadow' }),
      perMinute({ name: 'queue', algorithm: 'leaky-bucket', burst: undefined, maxQueue: 50, maxWaitMs: 5_000, methods: ['POST', 'PUT'], perRoute: true }),
      perMinute({ name: 'window', algorithm: 'fixed-window', burst: undefined, alignment: 'first-hit' }),
      perMinute({ name: 'log', algorithm: 'sliding-log', burst: undefined, limit: 10_000 }),
      perMinute({ name: 'counter', algorithm: 'sliding-counter', burst: undefined, scope: 'subject:account' }),
    ];
    const path = await create('everything');
    const kept = limits.map((limit) => ({ mode: 'enforce', ...(JSON.parse(JSON.stringify(limit)) as object) }));
    expect(await putDraft(path, content(limits))).toMatchObject({ status: 200, body: { content: { limits: kept } } });
    expect((await api.call('POST', `${path}/publish`, { body: {} })).body).toMatchObject({ content: { limits: kept } });
  });

  // Mutation: let the schema's checks of one algorithm out, or lose the index, and its row here is accepted or points elsewhere.
  it.each([
    [{ algorithm: 'sliding-log', burst: undefined, limit: 10_001 }, 'limit'],
    [{ algorithm: 'sliding-counter', burst: undefined, limit: Math.floor(Number.MAX_SAFE_INTEGER / 60_000) + 1 }, 'limit'],
    [{ algorithm: 'leaky-bucket', burst: undefined, maxQueue: Math.floor(Number.MAX_SAFE_INTEGER / 60_000) }, 'maxQueue'],
    [{ algorithm: 'leaky-bucket', burst: undefined, maxWaitMs: 60_001 }, 'maxWaitMs'],
    [{ algorithm: 'leaky-bucket' }, 'burst'],
    [{ maxQueue: 1 }, 'maxQueue'],
    [{ alignment: 'epoch' }, 'alignment'],
    [{ methods: [] }, 'methods'],
    [{ mode: 'shadow', penalty: { strikes: 1, withinMs: 1, banMs: 1000 } }, 'penalty'],
    [{ penalty: { strikes: 0, withinMs: 1, banMs: 1000 } }, 'penalty/strikes'],
    [{ penalty: { strikes: 1, withinMs: 1, banMs: 2000, maxBanMs: 1000 } }, 'penalty/maxBanMs'],
  ])('refuses %j at its field', async (more, field) => {
    const path = await create(`wrong-${createHash('md5').update(JSON.stringify(more)).digest('hex').slice(0, 12)}`);
    const refused = await putDraft(path, content([perMinute(), perMinute({ name: 'second', ...more })]));
    expect([refused.status, refused.body.errors?.map(({ pointer }) => pointer)]).toEqual([422, [`/limits/1/${field}`]]);
  });

  it('refuses a class that is not there, and an anonymous tier without a global limit', async () => {
    expect((await putDraft(await create('classy'), content([perMinute({ endpointClass: 'nowhere' })]))).body.errors).toEqual([
      { pointer: '/limits/0/endpointClass', detail: 'nowhere is not an endpoint class' },
    ]);
    const anonymous = await create('anonymous');
    expect(await putDraft(anonymous, content([perMinute({ scope: 'ip' })]))).toMatchObject({ status: 422, body: { errors: [{ pointer: '/limits' }] } });
    expect((await putDraft(anonymous, content([perMinute({ scope: 'ip' }), perMinute({ name: 'all', scope: 'global' })]))).status).toBe(200);
  });

  // Mutation: check the version before the update instead of in it, and two of the 50 may win.
  it('C073 takes one of 50 parallel first drafts', async () => {
    const path = await create('race');
    const answers = await Promise.all(Array.from({ length: 50 }, () => putDraft(path, content([perMinute()]))));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 412)).toHaveLength(49);
  });
});

describe('publishing', () => {
  it('gives immutable numbered versions with a diff by name and empties the draft', async () => {
    const path = await create('growing');
    await putDraft(path, content([perMinute()], [{ meter: 'requests', allowance: 1000, overage: 'reject' }]));
    const first = await api.call('POST', `${path}/publish`, { body: {} });
    expect(first).toMatchObject({ status: 201, body: { number: 1, publishedBy: 'bootstrap' } });
    expect((await api.call('GET', `${path}/draft`)).body).toMatchObject({ version: 2, content: { limits: [] } });
    expect(await api.call('POST', `${path}/publish`, { body: {} })).toMatchObject({ status: 409, body: { code: 'conflict' } });

    const other = { name: 'per-day', algorithm: 'fixed-window', scope: 'tenant', limit: 5, windowMs: 86_400_000 };
    await putDraft(path, content([other, perMinute({ burst: 60 })], [{ meter: 'requests', allowance: null, overage: 'reject' }]), 2);
    const second = await api.call('POST', `${path}/publish`);
    expect(second.body.diff).toEqual([
      { path: '/limits/per-day', after: { algorithm: 'fixed-window', scope: 'tenant', limit: 5, windowMs: 86_400_000, mode: 'enforce' } },
      { path: '/limits/per-minute/burst', before: 20, after: 60 },
      { path: '/quotas/requests/allowance', before: 1000, after: null },
    ]);
    expect((await api.call('GET', `${path}/versions`)).body.items?.map(({ number }) => number)).toEqual([2, 1]);
    expect((await api.call('GET', path)).body).toMatchObject({ currentVersion: 2, hasDraft: false });
  });

  // Mutation: leave windowMs out of COUNTER_FIELDS, and a change that hands out a fresh window reads like any other.
  it('says where a change begins a new counter', async () => {
    const path = await create('recounted');
    await putDraft(path, content([perMinute(), perMinute({ name: 'moved' })]));
    await api.call('POST', `${path}/publish`, { body: {} });
    await putDraft(path, content([perMinute({ algorithm: 'gcra', burst: 30 }), perMinute({ name: 'moved', windowMs: 1_000, limit: 5 })]), 2);
    const { diff } = (await api.call('POST', `${path}/publish`, { body: {} })).body;
    expect(diff).toEqual([
      { path: '/limits/moved/limit', before: 100, after: 5 },
      { path: '/limits/moved/windowMs', before: 60_000, after: 1_000, newCounter: true },
      { path: '/limits/per-minute/algorithm', before: 'token-bucket', after: 'gcra', newCounter: true },
      { path: '/limits/per-minute/burst', before: 20, after: 30 },
    ]);
  });

  it('keeps a version for later out of force until then, and never begins one in the past', async () => {
    const path = await create('later');
    await putDraft(path, content([perMinute()]));
    await api.call('POST', `${path}/publish`, { body: { effectiveAt: '2999-01-01T00:00:00Z' } });
    expect((await api.call('GET', path)).body.currentVersion).toBeNull();
    await putDraft(path, content([perMinute()]), 2);
    const past = await api.call('POST', `${path}/publish`, { body: { effectiveAt: '2001-01-01T00:00:00+02:00' } });
    expect(past.body.effectiveAt).toBe(past.body.publishedAt);
    expect((await api.call('GET', path)).body.currentVersion).toBe(2);
  });

  it('tells the worker what to compile anew', async () => {
    const path = await create('topical');
    await putDraft(path, content([perMinute()]));
    const { body } = await api.call('POST', `${path}/publish`);
    expect((await prisma.change.findUniqueOrThrow({ where: { id: body.changeId ?? '' } })).topics).toEqual([{ kind: 'tier', slug: 'topical' }]);
  });
});

describe('archiving', () => {
  // Mutation: leave requireUnused out and the tier goes away under its tenants.
  it('C080 is refused with the number of tenants that have the tier now or later', async () => {
    const path = await create('used');
    const { id: tierId } = await prisma.tier.findUniqueOrThrow({ where: { slug: 'used' } });
    const other = await prisma.tier.findUniqueOrThrow({ where: { slug: (await create('successor')).slice('/v1/tiers/'.length) } });
    const assign = (slug: string, assignments: readonly { tierId: string; effectiveAt: Date }[]): Promise<unknown> =>
      prisma.tenant.create({ data: { slug, name: slug, assignments: { create: assignments.map((row) => ({ ...row, createdBy: 'spec' })) } } });
    const [past, recent, later] = [new Date('2020-01-01'), new Date('2021-01-01'), new Date('2999-01-01')];
    await assign('now', [{ tierId, effectiveAt: past }]);
    await assign('soon', [{ tierId: other.id, effectiveAt: past }, { tierId, effectiveAt: later }]);
    await assign('left', [{ tierId, effectiveAt: past }, { tierId: other.id, effectiveAt: recent }]);
    expect((await api.call('GET', path)).body.tenants).toBe(1);
    expect(await api.call('POST', `${path}/archive`)).toMatchObject({ status: 409, body: { code: 'in_use', tenants: 2 } });
    await prisma.tenant.updateMany({ where: { slug: { in: ['now', 'soon'] } }, data: { deletedAt: new Date() } });
    expect((await api.call('POST', `${path}/archive`)).status).toBe(200);
    expect(await putDraft(path, content([perMinute()]))).toMatchObject({ status: 409 });
  });

  it('is refused for the fallback tier, which needs a published version', async () => {
    const path = await create('fallback');
    const change = async (): Promise<SpecAnswer> => api.call('PATCH', '/v1/settings', { body: { fallbackTier: 'fallback' }, ifMatch: (await api.call('GET', '/v1/settings')).body.version ?? 1 });
    expect(await change()).toMatchObject({ status: 422, body: { errors: [{ pointer: '/fallbackTier' }] } });
    await putDraft(path, content([perMinute()]));
    await api.call('POST', `${path}/publish`);
    expect((await change()).body).toMatchObject({ fallbackTier: 'fallback' });
    expect(await api.call('POST', `${path}/archive`)).toMatchObject({ status: 409, body: { code: 'in_use' } });
  });
});

describe('edits', () => {
  // Mutation: update without `version` in the where, and the loser is answered 200.
  it('C077 shows both versions to the loser, and asks for the precondition', async () => {
    const path = await create('edited');
    for (const version of [1, 2]) await api.call('PATCH', path, { body: { weight: version }, ifMatch: version });
    expect((await api.call('PATCH', path, { body: { name: 'First' }, ifMatch: 3 })).status).toBe(200);
    expect(await api.call('PATCH', path, { body: { name: 'Second' }, ifMatch: 3 })).toMatchObject({ status: 412, body: { code: 'version_conflict', expected: 3, found: 4 } });
    expect(await api.call('PATCH', path, { body: { name: 'Third' } })).toMatchObject({ status: 428, body: { code: 'version_required' } });
    expect((await api.call('GET', path)).body).toMatchObject({ name: 'First', version: 4 });
  });

  it('C077 loses no edit in 60 races of two admins over tiers, drafts, classes and operators', async () => {
    const tier = await create('raced');
    await api.call('POST', '/v1/endpoint-classes', { body: { slug: 'raced' } });
    const operator = await api.call('POST', '/v1/operators', { body: { email: 'raced@example.com', name: 'R', role: 'viewer', password: 'long enough now' } });
    const resources = [
      { path: tier, method: 'PATCH', body: { weight: 5 }, read: tier },
      { path: `${tier}/draft`, method: 'PUT', body: content([perMinute()]), read: `${tier}/draft` },
      { path: '/v1/endpoint-classes/raced', method: 'PATCH', body: { cost: 2 }, read: '/v1/endpoint-classes/raced' },
      { path: `/v1/operators/${operator.body.id}`, method: 'PATCH', body: { name: 'N' }, read: `/v1/operators/${operator.body.id}` },
    ] as const;
    for (const { path, method, body, read } of resources) {
      for (let round = 0; round < 15; round += 1) {
        const ifMatch = (await api.call('GET', read)).body.version ?? 0;
        const answers = await Promise.all([1, 2].map(() => api.call(method, path, { body, ifMatch })));
        expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
      }
    }
  });

  // Mutation: create without the unique key's refusal mapped, and the losers are 500.
  it('C073 makes one row of 50 parallel creations', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => api.call('POST', '/v1/endpoint-classes', { body: { slug: 'one' } })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status, body }) => status === 409 && body.code === 'conflict')).toHaveLength(49);
  });

  it('deletes a class only while no live tier limits it', async () => {
    await api.call('POST', '/v1/endpoint-classes', { body: { slug: 'search', cost: 10 } });
    const path = await create('searching');
    await putDraft(path, content([perMinute({ endpointClass: 'search' })]));
    await api.call('POST', `${path}/publish`);
    expect(await api.call('DELETE', '/v1/endpoint-classes/search', { ifMatch: 1 })).toMatchObject({ status: 409, body: { code: 'in_use', tiers: 1 } });
    await putDraft(path, content([perMinute()]), 2);
    await api.call('POST', `${path}/publish`);
    expect((await api.call('DELETE', '/v1/endpoint-classes/search', { ifMatch: 1 })).status).toBe(200);
    expect((await api.call('GET', '/v1/endpoint-classes/search')).status).toBe(404);
  });
});

describe('lists', () => {
  // Mutation: order by createdAt alone, or compare with `lt` on it alone, and pages overlap or lose rows.
  it('C074 gives 1,000 rows of one instant once each in pages of 50', async () => {
    const createdAt = new Date('2026-05-05T05:05:05.555Z');
    // The index would lend its own order to a query that forgot to ask for one.
    await prisma.$executeRawUnsafe('DROP INDEX api_tokens_created_at_id_idx');
    await prisma.apiToken.createMany({
      data: Array.from({ length: 1_000 }, (_, index) => ({ name: `t${index}`, secretHash: `hash-${index}`, hint: 'qpt_', scopes: ['tiers:read'], binding: { kind: 'platform' }, createdAt, createdBy: 'spec' })),
    });
    const ids: string[] = [];
    for (let cursor: string | null | undefined = ''; cursor !== null && cursor !== undefined; ) {
      const { body }: SpecAnswer = await api.call('GET', `/v1/tokens?limit=50${cursor === '' ? '' : `&cursor=${cursor}`}`);
      ids.push(...(body.items ?? []).map(({ id }) => id ?? ''));
      cursor = body.nextCursor;
    }
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toHaveLength(await prisma.apiToken.count());
  });

  it('refuses a cursor it did not give out', async () => {
    for (const cursor of ['x', Buffer.from('[1]').toString('base64url'), Buffer.from('["2026-01-01","x"]').toString('base64url')]) {
      expect(await api.call('GET', `/v1/tokens?cursor=${cursor}`)).toMatchObject({ status: 422, body: { errors: [{ pointer: '/query/cursor' }] } });
    }
  });
});
