import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PrismaService } from '../database/prisma.service';
import { startSpecApp, type SpecAnswer, type SpecApp } from './spec-app';

let postgres: TestPostgres;
let redis: TestRedis;
let api: SpecApp;
let prisma: PrismaService;
beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  api = await startSpecApp({ databaseUrl: postgres.url, redisUrl: redis.url });
  prisma = api.app.get(PrismaService);
  api.app.useLogger(false);
});
afterAll(async () => {
  await api?.stop();
  await Promise.all([postgres?.stop(), redis?.stop()]);
});

const TOKEN = { name: 'once', scopes: ['tiers:read'], binding: { kind: 'platform' } };

function createToken(key: string, body: object = TOKEN): Promise<SpecAnswer> {
  return api.call('POST', '/v1/tokens', { body, headers: { 'idempotency-key': key } });
}
const tokensNamed = (name: string): Promise<number> => prisma.apiToken.count({ where: { name } });

/** Makes the storing of answers fail until undone: a crash between the effect and its answer. */
async function whileAnswersCannotBeStored<T>(work: () => Promise<T>): Promise<T> {
  await prisma.$executeRawUnsafe('ALTER TABLE idempotency_keys ADD CONSTRAINT no_answer CHECK (status IS NULL) NOT VALID');
  try {
    return await work();
  } finally {
    await prisma.$executeRawUnsafe('ALTER TABLE idempotency_keys DROP CONSTRAINT no_answer');
  }
}

describe('an Idempotency-Key', () => {
  // Mutation: look the key up before inserting it instead of claiming it in one statement, and several are created.
  it('C060 makes one of 20 parallel creates; the others get the same answer or 409 with a hint', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => createToken('parallel', { ...TOKEN, name: 'parallel' })));
    expect(await tokensNamed('parallel')).toBe(1);
    const made = answers.filter(({ status }) => status === 201);
    expect(new Set(made.map(({ body }) => body.id)).size).toBe(1);
    expect(made.filter(({ body }) => body.secret !== undefined)).toHaveLength(1);
    for (const { status, body, headers } of answers.filter((answer) => answer.status !== 201)) {
      expect({ status, code: body.code, hint: headers['retry-after'] }).toEqual({ status: 409, code: 'idempotency_running', hint: '1' });
    }
    expect((await createToken('parallel', { ...TOKEN, name: 'parallel' })).body.id).toBe(made[0]?.body.id);
  });

  // Mutation: store the answer with its secretFields and the replay gives the secret away.
  it('repeats the first answer without its secret, and stores none', async () => {
    const first = await createToken('secret');
    const again = await createToken('secret');
    const { secret, ...shown } = first.body;
    expect(secret).toMatch(/^qpt_/);
    expect(again).toMatchObject({ status: 201, headers: { 'idempotency-replayed': 'true', etag: '"1"' } });
    expect(again.body).toEqual(shown);
    expect(JSON.stringify(await prisma.idempotencyKey.findMany())).not.toContain(secret);
  });

  it('refuses another body or another route, takes members in another order', async () => {
    await createToken('mismatch');
    expect(await createToken('mismatch', { ...TOKEN, name: 'other' })).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } });
    expect(await api.call('POST', '/v1/tiers', { body: { slug: 'x', name: 'x' }, headers: { 'idempotency-key': 'mismatch' } })).toMatchObject({ status: 422 });
    expect((await createToken('mismatch', { binding: TOKEN.binding, scopes: TOKEN.scopes, name: TOKEN.name })).status).toBe(201);
  });

  it('belongs to one caller', async () => {
    const { body } = await createToken('mine', { ...TOKEN, name: 'mine', scopes: ['tokens:write', 'tiers:read'] });
    const other = await api.call('POST', '/v1/tokens', { token: body.secret ?? '', body: { ...TOKEN, name: 'theirs' }, headers: { 'idempotency-key': 'mine' } });
    expect(other).toMatchObject({ status: 201, body: { name: 'theirs' } });
  });

  it('is free again after a request that was refused', async () => {
    const clash = (slug: string): Promise<SpecAnswer> => api.call('POST', '/v1/tiers', { body: { slug, name: 'n' }, headers: { 'idempotency-key': 'refused' } });
    await api.call('POST', '/v1/tiers', { body: { slug: 'taken', name: 'n' } });
    expect((await clash('taken')).status).toBe(409);
    expect((await clash('free')).status).toBe(201);
  });

  it.each([[''], ['a b'], ['x'.repeat(256)], ['ü']])('refuses the key %j with a pointer', async (key) => {
    expect(await createToken(key)).toMatchObject({ status: 422, body: { errors: [{ pointer: '/header/Idempotency-Key' }] } });
  });

  // Mutation: store the answer after the commit instead of in it, and the effect is there twice after the retry.
  it('leaves no effect when the answer cannot be stored, and one after the retry', async () => {
    const written = (): Promise<number[]> => Promise.all([prisma.change.count(), prisma.auditEntry.count(), tokensNamed('crash')]);
    const before = await written();
    const failed = await whileAnswersCannotBeStored(() => createToken('crash', { ...TOKEN, name: 'crash' }));
    expect(failed.status).toBe(500);
    expect(await written()).toEqual(before);
    expect((await createToken('crash', { ...TOKEN, name: 'crash' })).status).toBe(201);
    expect(await tokensNamed('crash')).toBe(1);
  });

  it('is taken over from a process that died, after 60 s', async () => {
    await createToken('dead', { ...TOKEN, name: 'dead' });
    await prisma.$executeRaw`UPDATE idempotency_keys SET status = NULL, response = NULL, completed_at = NULL WHERE key = 'dead'`;
    expect((await createToken('dead', { ...TOKEN, name: 'dead' })).body.code).toBe('idempotency_running');
    await prisma.$executeRaw`UPDATE idempotency_keys SET created_at = now() - interval '61 seconds' WHERE key = 'dead'`;
    expect((await createToken('dead', { ...TOKEN, name: 'dead' })).status).toBe(201);
  });

  // Mutation: leave created_at out of completeIdempotencyKey and the slow first send commits beside the second.
  it('lets a slow first send commit nothing once another has taken over', async () => {
    const blocker = new pg.Client({ connectionString: postgres.url });
    await blocker.connect();
    await blocker.query(`BEGIN; SELECT 1 FROM audit_heads WHERE chain = 'platform' FOR UPDATE`);
    const slow = createToken('slow', { ...TOKEN, name: 'slow' });
    await expect.poll(() => prisma.idempotencyKey.count({ where: { key: 'slow' } })).toBe(1);
    await blocker.query(`UPDATE idempotency_keys SET created_at = clock_timestamp() + interval '1 second' WHERE key = 'slow'; COMMIT`);
    await blocker.end();
    expect(await slow).toMatchObject({ status: 409, body: { code: 'idempotency_running' } });
    expect(await tokensNamed('slow')).toBe(0);
  });

  it('is kept 7 days and free after them', async () => {
    const first = await createToken('week', { ...TOKEN, name: 'week' });
    await prisma.$executeRaw`UPDATE idempotency_keys SET created_at = now() - interval '6 days 23 hours' WHERE key = 'week'`;
    expect((await createToken('week', { ...TOKEN, name: 'week' })).body.id).toBe(first.body.id);
    await prisma.$executeRaw`UPDATE idempotency_keys SET created_at = now() - interval '7 days 1 second' WHERE key = 'week'`;
    expect((await createToken('week', { ...TOKEN, name: 'week' })).body.id).not.toBe(first.body.id);
  });
});
