import { listsDocumentSchema, redisKeys, type SubjectPenalty } from '@quotaplane/contracts';
import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { PrismaService } from '../database/prisma.service';
import { startSpecApp, type SpecAnswer, type SpecApp } from '../http/spec-app';
import { OutboxRig } from '../outbox/outbox-rig';
import { AutomaticPenalties } from './automatic-penalties';

let postgres: TestPostgres;
let redisServer: TestRedis;
let api: SpecApp;
let rig: OutboxRig;
beforeAll(async () => {
  [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
  api = await startSpecApp({ databaseUrl: postgres.url, redisUrl: redisServer.url });
  rig = await OutboxRig.over({ postgres, redisServer });
  const tier = await rig.tier('free');
  for (const slug of ['acme', 'globex']) await rig.tenant(slug, tier);
});
beforeEach(async () => {
  await rig.redis.flushall();
  await rig.prisma.listEntry.deleteMany();
});
afterAll(async () => {
  await api?.stop();
  await rig?.stop();
  await Promise.all([postgres?.stop(), redisServer?.stop()]);
});

const UNTIL = '2999-01-01T00:00:00.000Z';
const HOUR_MS = 3_600_000;
const penalise = (more: object = {}): Promise<SpecAnswer> =>
  api.call('POST', '/v1/penalties', { body: { tenant: 'acme', subject: { scope: 'user', id: 'ann' }, reason: 'loud', until: UNTIL, ...more } });
const counterOf = (tenant: string, subject: string): string => `qp:{${tenant}}:p:per-user:gcra:1000:user:${subject}:`;

/** Writes a ban as a guard does. */
async function ban(tenant: string, subject: string, more: { readonly startedMs?: number; readonly untilMs?: number; readonly counter?: string; readonly level?: number } = {}): Promise<string> {
  const field = JSON.stringify([tenant, 'per-user', 'user', subject]);
  const now = Date.now();
  const value = { counter: counterOf(tenant, subject), startedMs: now, untilMs: now + HOUR_MS, level: 2, ...more };
  await rig.redis.set(value.counter, 'strikes');
  await rig.redis.hset(redisKeys.penalties, field, JSON.stringify(value));
  return `auto-${Buffer.from(field).toString('base64url')}`;
}
const listed = async (query = ''): Promise<SubjectPenalty[]> => (await api.call('GET', `/v1/penalties${query}`)).body.items as unknown as SubjectPenalty[];

it('publishes a penalty set by hand with the lists and ends it with a reason', async () => {
  const made = await penalise();
  expect(made).toMatchObject({ status: 201, body: { kind: 'manual', state: 'active', until: UNTIL, limit: null, level: null, createdBy: 'bootstrap' } });
  await rig.relay().drain();
  const document = async () => listsDocumentSchema.parse(JSON.parse((await rig.redis.get(redisKeys.lists)) ?? 'null'));
  expect((await document()).entries).toMatchObject([{ id: made.body.id, list: 'penalty', tenant: 'acme', scope: 'user', subject: 'ann', untilMs: Date.parse(UNTIL) }]);
  // An entry of the penalties is none of the lists.
  expect((await api.call('GET', `/v1/lists/${made.body.id}`)).status).toBe(404);
  expect((await api.call('DELETE', `/v1/penalties/${made.body.id}`, { ifMatch: 1 })).body.errors?.[0]?.pointer).toBe('/query/reason');
  expect(await api.call('DELETE', `/v1/penalties/${made.body.id}?reason=sorted+out`, { ifMatch: 1 })).toMatchObject({ status: 200, body: { state: 'lifted', liftedBy: 'bootstrap' } });
  await rig.relay().drain();
  expect((await document()).entries).toEqual([]);
});

it('wants an end, in the future', async () => {
  expect((await penalise({ until: undefined })).body.errors?.[0]?.pointer).toBe('/until');
  expect((await penalise({ until: '2001-01-01T00:00:00Z' })).body.errors?.[0]?.pointer).toBe('/until');
});

// Mutation: delete the hash field alone, and the subject stays banned while nothing shows it.
it('lifts an automatic one: its counter and its field go, and the audit log says who and why', async () => {
  const id = await ban('acme', 'ann');
  expect((await api.call('GET', `/v1/penalties/${id}`)).body).toMatchObject({ kind: 'automatic', tenant: 'acme', subject: { scope: 'user', id: 'ann' }, limit: 'per-user', level: 2, version: 2 });
  expect(await api.call('DELETE', `/v1/penalties/${id}?reason=their+bug+is+fixed`, { ifMatch: 1 })).toMatchObject({ status: 412, body: { found: 2 } });
  const lifted = await api.call('DELETE', `/v1/penalties/${id}?reason=their+bug+is+fixed`, { ifMatch: 2 });
  expect(lifted).toMatchObject({ status: 200, body: { state: 'lifted', liftedBy: 'bootstrap' } });
  expect([await rig.redis.exists(counterOf('acme', 'ann')), await rig.redis.hlen(redisKeys.penalties)]).toEqual([0, 0]);
  expect((await api.call('DELETE', `/v1/penalties/${id}?reason=again`, { ifMatch: 2 })).status).toBe(404);
  expect((await api.call('GET', '/v1/audit?tenant=acme&action=penalty.lift')).body.items?.[0]).toMatchObject({ reason: 'their bug is fixed', before: { state: 'active', level: 2 }, after: { state: 'lifted' } });
});

// Mutation: leave PENALTY_KEY out, and a guard's write makes the control plane delete a head.
it('deletes nothing but a penalty\'s counter, whatever the hash says, and records a ban of an unknown tenant on the platform', async () => {
  const head = redisKeys.head('acme');
  const id = await ban('nowhere', 'ann', { counter: head });
  expect((await api.call('DELETE', `/v1/penalties/${id}?reason=strange`, { ifMatch: 2 })).status).toBe(200);
  expect(await rig.redis.exists(head)).toBe(1);
  expect((await api.call('GET', '/v1/audit?action=penalty.lift')).body.items?.[0]).toMatchObject({ tenant: null, reason: 'strange' });
});

it('lists both kinds, running automatic ones first, once each over pages, by tenant, kind and state', async () => {
  const now = Date.now();
  for (let index = 0; index < 7; index += 1) await ban(index % 2 === 0 ? 'acme' : 'globex', `u${index}`, { startedMs: now - 1000 * Math.floor(index / 2) });
  await ban('acme', 'over', { untilMs: now - 1 });
  await rig.redis.hset(redisKeys.penalties, 'no json', 'no json');
  for (let index = 0; index < 5; index += 1) await penalise({ tenant: index % 2 === 0 ? 'acme' : null });
  const pages: SubjectPenalty[] = [];
  for (let cursor: string | null | undefined = ''; cursor !== null && cursor !== undefined;) {
    const { body }: SpecAnswer = await api.call('GET', `/v1/penalties?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`);
    pages.push(...(body.items as unknown as SubjectPenalty[]));
    cursor = body.nextCursor;
  }
  expect(pages.map(({ kind }) => kind)).toEqual([...Array<string>(7).fill('automatic'), ...Array<string>(5).fill('manual')]);
  expect(new Set(pages.map(({ id }) => id)).size).toBe(12);
  expect(pages).toEqual(await listed());
  expect((await listed('?tenant=acme')).map(({ kind }) => kind)).toEqual(['automatic', 'automatic', 'automatic', 'automatic', 'manual', 'manual', 'manual']);
  expect(await listed('?kind=manual')).toHaveLength(5);
  expect(await listed('?kind=automatic&tenant=globex')).toHaveLength(3);
  expect(await listed('?state=lifted')).toEqual([]);
  expect((await api.call('GET', '/v1/penalties?cursor=x')).body.errors?.[0]?.pointer).toBe('/query/cursor');
});

// Mutation: HDEL without looking at what was taken, and a ban that a guard writes meanwhile is lost from sight.
it('sweeps out what has ended and puts a ban back that a guard wrote meanwhile', async () => {
  const now = Date.now();
  await ban('acme', 'over', { untilMs: now - 1 });
  await ban('acme', 'runs');
  await rig.redis.hset(redisKeys.penalties, 'no json', 'no json');
  const fresh = JSON.stringify({ counter: counterOf('acme', 'over'), startedMs: now, untilMs: now + HOUR_MS, level: 3 });
  const overField = JSON.stringify(['acme', 'per-user', 'user', 'over']);
  const multi = rig.redis.multi.bind(rig.redis);
  let isRaced = false;
  const racing = new Proxy(rig.redis, {
    get: (target, name) => {
      if (name !== 'multi') {
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === 'function' ? member.bind(target) : member;
      }
      return () => {
        if (!isRaced) void rig.redis.hset(redisKeys.penalties, overField, fresh);
        isRaced = true;
        return multi();
      };
    },
  });
  await new AutomaticPenalties(racing).dropEnded();
  expect(await rig.redis.hget(redisKeys.penalties, overField)).toBe(fresh);
  expect((await listed()).map(({ subject }) => subject.id).sort()).toEqual(['over', 'runs']);
  expect(await rig.redis.hlen(redisKeys.penalties)).toBe(2);
});

it('says that Redis is away where it must, and goes on with what Postgres knows', async () => {
  const lost = await startRedis();
  const apart = await startSpecApp({ databaseUrl: postgres.url, redisUrl: lost.url });
  apart.app.useLogger(false);
  await lost.kill();
  expect(await apart.call('GET', '/v1/penalties')).toMatchObject({ status: 503, body: { code: 'store_unavailable' } });
  expect((await apart.call('GET', '/v1/penalties?kind=manual')).status).toBe(200);
  expect((await apart.call('POST', '/v1/penalties', { body: { tenant: 'acme', subject: { scope: 'user', id: 'ann' }, reason: 'loud', until: UNTIL } })).status).toBe(201);
  await apart.stop();
  await lost.stop();
  expect(await api.app.get(PrismaService).listEntry.count()).toBe(1);
});
