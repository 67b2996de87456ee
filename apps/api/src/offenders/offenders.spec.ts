import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { OffenderLog, RetryWatch } from '@quotaplane/usage';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startSpecApp, type SpecApp } from '../http/spec-app';

let postgres: TestPostgres;
let redisServer: TestRedis;
let redis: Redis;
let api: SpecApp;
beforeAll(async () => {
  [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
  redis = new Redis(redisServer.url);
  api = await startSpecApp({ databaseUrl: postgres.url, redisUrl: redisServer.url });
});
afterAll(async () => {
  await api?.stop();
  redis?.disconnect();
  await Promise.all([postgres?.stop(), redisServer?.stop()]);
});
beforeEach(async () => {
  await redis.flushall();
});

const denial = { tenant: 'hobby', scope: 'user', subject: 'u1', limit: 'per-minute', class: 'default' } as const;

it('tells of each offender whether its retries waited as told', async () => {
  const log = new OffenderLog({ redis, storeNow: () => Date.now() });
  const watch = new RetryWatch({ onRetry: (result, subject) => log.retried(subject, result) });
  for (const [subject, waitedMs] of [['patient', 1_000], ['hasty', 10], ['gone', null]] as const) {
    const offender = { ...denial, subject };
    log.record(offender);
    watch.denied(subject, { subject: offender, deniedAtMs: 0, retryAfterMs: 1_000 });
    if (waitedMs !== null) watch.called(subject, waitedMs);
  }
  await log.flush();
  const items = (await api.call('GET', '/v1/offenders')).body.items ?? [];
  expect(Object.fromEntries(items.map((item) => [(item['subject'] as { id: string }).id, [item['honoursRetryAfter'], item['error']]]))).toEqual({ patient: [true, 0], hasty: [false, 0], gone: [null, 0] });
});

it('states how far a figure may be off once a node denies more subjects than it counts apart', async () => {
  const log = new OffenderLog({ redis, storeNow: () => Date.now(), counters: 10 });
  for (let index = 0; index < 1_000; index += 1) {
    log.record({ ...denial, subject: `one-off-${index}` });
    if (index % 2 === 0) log.record({ ...denial, subject: 'heavy' });
  }
  await log.flush();
  const [first] = (await api.call('GET', '/v1/offenders?limit=1')).body.items ?? [];
  expect(first).toMatchObject({ subject: { scope: 'user', id: 'heavy' } });
  expect(Math.abs(Number(first?.['denials']) - 500)).toBeLessThanOrEqual(Number(first?.['error']));
  expect(Number(first?.['error'])).toBeLessThanOrEqual(1_500 / 10);
});
