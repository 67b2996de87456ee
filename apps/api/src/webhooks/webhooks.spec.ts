import { SECRET_OVERLAP_MS } from '@quotaplane/contracts';
import { startPostgres, startRedis, TestClock, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PrismaService } from '../database/prisma.service';
import { recordEvents } from '../events/record-events';
import { startSpecApp, type SpecAnswer, type SpecApp } from '../http/spec-app';
import { fanOutEvents } from './delivery-sql';

const clock = new TestClock(Date.now());
let postgres: TestPostgres;
let redis: TestRedis;
let api: SpecApp;
let prisma: PrismaService;
beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  api = await startSpecApp({ databaseUrl: postgres.url, redisUrl: redis.url }, { clock });
  prisma = api.app.get(PrismaService);
});
afterAll(async () => {
  await api?.stop();
  await Promise.all([postgres?.stop(), redis?.stop()]);
});

const BODY = { url: 'https://1.1.1.1/hook', events: ['override.ending', 'tenant.limited'] };
const create = (body: object = {}, headers: Record<string, string> = {}): Promise<SpecAnswer> => api.call('POST', '/v1/webhooks', { body: { ...BODY, ...body }, headers });
/** One event, and its delivery to every endpoint there is. */
async function happened(dedupeKey: string): Promise<void> {
  await prisma.transaction((tx) => recordEvents(tx, [{ type: 'override.ending', tenant: null, dedupeKey, at: new Date(), data: { key: dedupeKey } }]));
  await fanOutEvents(prisma, new Date(clock.now()), 100);
}

describe('an endpoint', () => {
  // Mutation: put the secret into the mapping that reads and the audit log use.
  it('shows its secret once: not when read, not when its creation is repeated, not in the audit log', async () => {
    const made = await create({}, { 'idempotency-key': 'make-1' });
    expect(made).toMatchObject({ status: 201, body: { status: 'active', version: 1, tenant: null, ratePerSecond: 10, concurrency: 4, pending: 0, lastStatus: null } });
    const secret = made.body.secret ?? '';
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(made.body['secretHint']).toBe(secret.slice(-4));
    const repeated = await create({}, { 'idempotency-key': 'make-1' });
    expect(repeated).toMatchObject({ status: 201, body: { id: made.body.id } });
    const others = [repeated, await api.call('GET', `/v1/webhooks/${made.body.id}`), await api.call('GET', '/v1/webhooks'), await api.call('GET', '/v1/audit')];
    for (const answer of others) {
      expect(answer.status).toBeLessThan(300);
      expect(answer.text).not.toContain(secret.slice(6, 40));
    }
    expect(others[3]?.text).toContain('webhook.create');
  });

  // Mutation: judge the address at the send only.
  it.each([
    ['https://127.0.0.1/', 'leads to 127.0.0.1'], ['https://[::ffff:10.0.0.1]/', 'leads to ::ffff:a00:1'], ['https://169.254.169.254/latest/meta-data', 'leads to 169.254.169.254'],
    ['http://1.1.1.1/', 'must be an https URL'], ['https://user:pw@1.1.1.1/', 'must not contain a user'], ['https://localhost/', 'leads to '],
  ])('is refused with the URL %s', async (url, detail) => {
    const expected = { status: 422, body: { code: 'invalid', errors: [{ pointer: '/url', detail: expect.stringContaining(detail) as string }] } };
    expect(await create({ url })).toMatchObject(expected);
    const { body } = await create();
    expect(await api.call('PATCH', `/v1/webhooks/${body.id}`, { body: { url }, ifMatch: 1 })).toMatchObject(expected);
  });

  it('wants a tenant that exists, known events, and numbers within bounds', async () => {
    expect(await create({ tenant: 'nobody' })).toMatchObject({ status: 404, body: { errors: [{ pointer: '/tenant' }] } });
    expect(await create({ events: ['no.such'] })).toMatchObject({ status: 422 });
    expect(await create({ events: [] })).toMatchObject({ status: 422, body: { errors: [{ pointer: '/events' }] } });
    expect(await create({ concurrency: 0 })).toMatchObject({ status: 422, body: { errors: [{ pointer: '/concurrency' }] } });
  });

  it('is changed at its version only, disabled with who did it, and enabled again', async () => {
    const { body } = await create();
    const path = `/v1/webhooks/${body.id}`;
    expect(await api.call('PATCH', path, { body: { description: 'x' } })).toMatchObject({ status: 428 });
    expect(await api.call('PATCH', path, { body: { description: 'ours', events: ['tenant.limited'] }, ifMatch: 1 })).toMatchObject({ status: 200, body: { description: 'ours', events: ['tenant.limited'], version: 2, disabledReason: null } });
    expect(await api.call('PATCH', path, { body: { status: 'disabled' }, ifMatch: 1 })).toMatchObject({ status: 412 });
    const disabled = await api.call('PATCH', path, { body: { status: 'disabled' }, ifMatch: 2 });
    expect(disabled).toMatchObject({ status: 200, body: { status: 'disabled', disabledReason: expect.stringMatching(/^disabled by /) as string } });
    // Another edit leaves the reason.
    expect(await api.call('PATCH', path, { body: { ratePerSecond: 5 }, ifMatch: 3 })).toMatchObject({ body: { status: 'disabled', disabledReason: disabled.body['disabledReason'], ratePerSecond: 5 } });
    expect(await api.call('PATCH', path, { body: { status: 'active' }, ifMatch: 4 })).toMatchObject({ status: 200, body: { status: 'active', disabledReason: null } });
  });

  it('gets a new secret, shown once, while the former signs for a day', async () => {
    const { body } = await create();
    const rotated = await api.call('POST', `/v1/webhooks/${body.id}/rotate`, { headers: { 'idempotency-key': 'rotate-1' } });
    expect(rotated).toMatchObject({ status: 200, body: { version: 2, formerSecretUntil: new Date(clock.now() + SECRET_OVERLAP_MS).toISOString() } });
    expect(rotated.body.secret).not.toBe(body.secret);
    const row = await prisma.webhook.findUniqueOrThrow({ where: { id: body.id ?? '' } });
    expect([row.secret, row.formerSecret]).toEqual([rotated.body.secret, body.secret]);
    const again = await api.call('POST', `/v1/webhooks/${body.id}/rotate`, { headers: { 'idempotency-key': 'rotate-1' } });
    expect([again.status, again.body.secret, again.body.version]).toEqual([200, undefined, 2]);
  });

  it('is gone once deleted, with its secret and all that waited', async () => {
    const { body } = await create();
    await happened('deleted');
    expect(await api.call('GET', `/v1/webhooks/${body.id}`)).toMatchObject({ body: { pending: 1 } });
    expect(await api.call('DELETE', `/v1/webhooks/${body.id}`)).toMatchObject({ status: 428 });
    expect(await api.call('DELETE', `/v1/webhooks/${body.id}`, { ifMatch: 1 })).toMatchObject({ status: 200, body: { id: body.id, pending: 0 } });
    for (const path of [`/v1/webhooks/${body.id}`, `/v1/webhooks/${body.id}/deliveries`]) expect(await api.call('GET', path)).toMatchObject({ status: 404 });
    expect(await prisma.webhook.findUniqueOrThrow({ where: { id: body.id ?? '' } })).toMatchObject({ secret: '', formerSecret: null });
    expect(await prisma.webhookDelivery.findFirst({ where: { webhookId: body.id ?? '' } })).toMatchObject({ state: 'failed' });
  });

  it('is listed newest first in pages that do not overlap', async () => {
    for (let index = 0; index < 3; index += 1) {
      clock.advance(10);
      await create({ description: `page ${index}` });
    }
    const first = await api.call('GET', '/v1/webhooks?limit=2');
    const second = await api.call('GET', `/v1/webhooks?limit=2&cursor=${first.body.nextCursor}`);
    const names = [...(first.body.items ?? []), ...(second.body.items ?? [])].map((item) => item['description']);
    expect(names.slice(0, 3)).toEqual(['page 2', 'page 1', 'page 0']);
  });
});

describe('the log of deliveries', () => {
  it('is found by state and type, newest first', async () => {
    const { body } = await create();
    clock.advance(10);
    await happened('log-1');
    clock.advance(10);
    await happened('log-2');
    const of = async (query: string) => (await api.call('GET', `/v1/webhooks/${body.id}/deliveries${query}`)).body.items ?? [];
    expect((await of('')).map((item) => (item['event'] as { data: { key: string } }).data.key)).toEqual(['log-2', 'log-1']);
    expect((await of('?state=pending&type=override.ending')).length).toBe(2);
    expect([(await of('?state=delivered')).length, (await of('?type=tenant.limited')).length, (await of('?limit=1')).length]).toEqual([0, 0, 1]);
  });

  // Mutation: redeliver as a new row, or while it is being sent.
  it('sends a delivery again as the same one, with the whole schedule before it', async () => {
    const { body } = await create();
    await happened('again');
    const row = await prisma.webhookDelivery.findFirstOrThrow({ where: { webhookId: body.id ?? '' } });
    const path = `/v1/webhooks/${body.id}/deliveries/${row.id}/redeliver`;
    const log = [{ at: new Date().toISOString(), status: 500, error: 'answered 500', tookMs: 3 }];
    await prisma.webhookDelivery.update({ where: { id: row.id }, data: { state: 'given-up', attempts: 9, nextAttemptAt: null, log } });
    expect(await api.call('POST', path, { headers: { 'idempotency-key': 'again-1' } })).toMatchObject({
      status: 200, body: { id: row.id, state: 'pending', attempts: 0, nextAttemptAt: new Date(clock.now()).toISOString(), log, event: { id: row.eventId } },
    });
    await prisma.webhookDelivery.update({ where: { id: row.id }, data: { leasedUntil: new Date(clock.now() + 1_000) } });
    expect(await api.call('POST', path)).toMatchObject({ status: 409, body: { detail: 'The delivery is being sent right now' } });
    await api.call('PATCH', `/v1/webhooks/${body.id}`, { body: { status: 'disabled' }, ifMatch: 1 });
    expect(await api.call('POST', path)).toMatchObject({ status: 409, body: { detail: 'The endpoint is disabled; enable it first' } });
    const { body: other } = await create();
    expect(await api.call('POST', `/v1/webhooks/${other.id}/deliveries/${row.id}/redeliver`)).toMatchObject({ status: 404 });
  });
});
