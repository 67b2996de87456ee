import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startSpecApp } from '../http/spec-app';
import { contention } from './worker-rig';

let postgres: TestPostgres;
let redisServer: TestRedis;
beforeAll(async () => {
  [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
});
afterAll(async () => {
  await Promise.all([postgres?.stop(), redisServer?.stop()]);
});

it('commits changes while Redis is away, and lets the HTTP process end', async () => {
  const api = await startSpecApp({ databaseUrl: postgres.url, redisUrl: redisServer.url });
  await redisServer.kill();
  const startedAt = performance.now();
  const answer = await api.call('POST', '/v1/tiers', { body: { slug: 'away', name: 'Away' } });
  expect(answer.status).toBe(201);
  expect(performance.now() - startedAt).toBeLessThan(1_000 * contention());
  const stoppedAt = performance.now();
  await api.stop();
  expect(performance.now() - stoppedAt).toBeLessThan(3_000 * contention());
}, 60_000);
