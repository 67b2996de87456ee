import { freePort, startPostgres, startRedis, TestClock, FaultProxy, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from '../config/app-config';
import { refusalOf } from '../http/problem';
import { startSpecApp, type SpecAnswer, type SpecApp } from '../http/spec-app';
import { requireTimeZone } from '../tenants/tenant-rules';
import { PrismaService } from './prisma.service';
import { Retention, RETENTION_MS } from './retention';
import { requireStores } from './store-check';

let postgres: TestPostgres;
let redis: TestRedis;
beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
});
afterAll(() => Promise.all([postgres?.stop(), redis?.stop()]));

async function withApp<T>(env: Record<string, string>, work: (api: SpecApp) => Promise<T>, databaseUrl = postgres.url): Promise<T> {
  const api = await startSpecApp({ databaseUrl, redisUrl: redis.url }, { env });
  api.app.useLogger(false);
  try {
    return await work(api);
  } finally {
    await api.stop();
  }
}

const timed = async (work: Promise<SpecAnswer>): Promise<SpecAnswer & { tookMs: number }> => {
  const startedAt = performance.now();
  return { ...(await work), tookMs: performance.now() - startedAt };
};

/** Takes one connection out of the pool until `released`; tried again where a busy machine is late to connect. */
async function holdConnection(prisma: PrismaService, released: Promise<void>): Promise<{ ended: Promise<void> }> {
  for (let attempt = 1; ; attempt += 1) {
    const held = await new Promise<{ ended: Promise<void> } | undefined>((resolve) => {
      const ended: Promise<void> = prisma.transaction(async (tx) => {
        await tx.settings.count();
        resolve({ ended });
        await released;
      });
      ended.catch(() => resolve(undefined));
    });
    if (held) return held;
    if (attempt === 10) throw new Error('no connection to hold');
  }
}

describe('stores that cannot serve', () => {
  // Mutation: leave connectionTimeoutMillis out and the calls hang behind the two held connections.
  it('C076 answers 503 within 2 s while the pool is used up, and is healthy afterwards', async () => {
    await withApp({ QUOTAPLANE_DB_POOL: '2', QUOTAPLANE_DB_ACQUIRE_MS: '800' }, async (api) => {
      const prisma = api.app.get(PrismaService);
      // What this machine takes for 100 calls that need no store comes on top of the bound.
      const calibration = await Promise.all(Array.from({ length: 100 }, () => timed(api.call('GET', '/health/live', { token: null }))));
      const ownMs = Math.max(...calibration.map(({ tookMs }) => tookMs));
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const held = [await holdConnection(prisma, released), await holdConnection(prisma, released)];
      const answers = await Promise.all(Array.from({ length: 100 }, (_, index) => timed(api.call('POST', '/v1/endpoint-classes', { body: { slug: `pool-${index}` } }))));
      release();
      for (const answer of answers) expect(answer).toMatchObject({ status: 503, body: { code: 'store_unavailable' }, headers: { 'retry-after': '1' } });
      expect(Math.max(...answers.map(({ tookMs }) => tookMs))).toBeLessThan(2_000 + ownMs);
      await Promise.all(held.map(({ ended }) => ended));
      expect((await api.call('POST', '/v1/endpoint-classes', { body: { slug: 'pool-after' } })).status).toBe(201);
    });
  });

  it('C076 gives each of 100 parallel writes over a pool of 2 its answer: made or 503, and no row without 201', async () => {
    await withApp({ QUOTAPLANE_DB_POOL: '2', QUOTAPLANE_DB_ACQUIRE_MS: '800' }, async (api) => {
      const answers = await Promise.all(Array.from({ length: 100 }, (_, index) => api.call('POST', '/v1/endpoint-classes', { body: { slug: `burst-${index}` } })));
      const made = answers.filter(({ status }) => status === 201);
      expect(made.length + answers.filter(({ status }) => status === 503).length).toBe(100);
      expect(await api.app.get(PrismaService).endpointClass.count({ where: { slug: { startsWith: 'burst-' } } })).toBe(made.length);
    });
  });

  it('answers 503 when Postgres is cut off, and serves again when it is back', async () => {
    const proxy = await FaultProxy.start(postgres.url);
    await withApp({ QUOTAPLANE_DB_ACQUIRE_MS: '800' }, async (api) => {
      expect((await api.call('GET', '/v1/tiers')).status).toBe(200);
      proxy.set({ kind: 'reset' });
      proxy.resetConnections();
      expect(await api.call('GET', '/v1/tiers')).toMatchObject({ status: 503, body: { code: 'store_unavailable' } });
      expect(await api.call('GET', '/health/ready', { token: null })).toMatchObject({ status: 503, body: { checks: { postgres: 'failed', redis: 'ok' } } });
      // Mutation: take every failure of the look-up for an unknown zone, and a good one is refused as invalid.
      const refusal = await requireTimeZone(api.app.get(PrismaService), 'Europe/Berlin').catch(refusalOf);
      expect(refusal).toMatchObject({ code: 'store_unavailable' });
      proxy.set({ kind: 'none' });
      await expect.poll(() => api.call('GET', '/v1/tiers').then(({ status }) => status)).toBe(200);
    }, proxy.url);
    await proxy.stop();
  });

  it('changes things while Redis is away: the outbox row keeps them', async () => {
    const lost = await startRedis();
    const api = await startSpecApp({ databaseUrl: postgres.url, redisUrl: lost.url });
    api.app.useLogger(false);
    await lost.kill();
    const { status, body } = await api.call('POST', '/v1/endpoint-classes', { body: { slug: 'without-redis' } });
    expect(status).toBe(201);
    expect(await api.app.get(PrismaService).change.count({ where: { id: body.changeId ?? '', publishedAt: null } })).toBe(1);
    expect(await api.call('GET', '/health/ready', { token: null })).toMatchObject({ status: 503, body: { checks: { postgres: 'ok', redis: 'failed' } } });
    await api.stop();
    await lost.stop();
  });
});

describe('settings that cannot be used', () => {
  it.each([
    [{}, 'DATABASE_URL is not set; REDIS_URL is not set'],
    [{ DATABASE_URL: 'mysql://x', REDIS_URL: 'redis://x' }, 'DATABASE_URL must be a URL such as'],
    [{ DATABASE_URL: 'postgres://x/y', REDIS_URL: 'redis://x', PORT: '70000' }, 'PORT'],
  ])('names what is wrong with %j in one line', (env, words) => {
    expect(() => readConfig(env)).toThrow(ConfigError);
    expect(() => readConfig(env)).toThrow(words);
    expect(() => readConfig(env)).not.toThrow('\n');
  });

  it('says in one line which store does not answer, without a password', async () => {
    const port = await freePort();
    const databaseUrl = `postgresql://quota:secret@127.0.0.1:${port}/x`;
    const refused = await requireStores({ databaseUrl, redisUrl: redis.url }).then(() => undefined, (error: unknown) => error);
    expect(refused).toBeInstanceOf(ConfigError);
    expect(String(refused)).toMatch(/Postgres at 127\.0\.0\.1:\d+\/x .*correct DATABASE_URL\.$/);
    expect(String(refused)).not.toContain('secret');
    await expect(requireStores({ databaseUrl: postgres.url, redisUrl: `redis://:secret@127.0.0.1:${port}` })).rejects.toThrow(/^Redis at 127\.0\.0\.1:\d+ does not answer: .*correct REDIS_URL\.$/);
    await expect(requireStores({ databaseUrl: postgres.url.replace(/\/[^/]+$/, '/nowhere'), redisUrl: redis.url })).rejects.toThrow(/does not exist/);
    const bare = await startPostgres({ migrationsDir: null });
    await expect(requireStores({ databaseUrl: bare.url, redisUrl: redis.url })).rejects.toThrow(/no Quotaplane tables/);
    await bare.stop();
    await requireStores({ databaseUrl: postgres.url, redisUrl: redis.url });
  });
});

it('deletes what nobody can use any more and keeps the rest', async () => {
  const clock = new TestClock();
  const api = await startSpecApp({ databaseUrl: postgres.url, redisUrl: redis.url }, { clock });
  const prisma = api.app.get(PrismaService);
  const aged = (ageMs: number): Date => new Date(clock.now() - ageMs);
  await prisma.idempotencyKey.createMany({
    data: [1_000, -1_000].map((moreMs) => ({ actorId: 'spec', key: `k${moreMs}`, requestHash: 'x', createdAt: aged(RETENTION_MS.idempotencyKeys + moreMs) })),
  });
  await prisma.signInAttempt.createMany({ data: [1_000, -1_000].map((moreMs) => ({ key: 'account:x', windowStart: aged(RETENTION_MS.signInAttempts + moreMs) })) });
  await api.app.get(Retention).sweep();
  expect((await prisma.idempotencyKey.findMany({ where: { actorId: 'spec' } })).map(({ key }) => key)).toEqual(['k-1000']);
  expect(await prisma.signInAttempt.count({ where: { key: 'account:x' } })).toBe(1);
  await api.stop();
});
