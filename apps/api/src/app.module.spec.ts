import { routes, type RouteContract } from '@quotaplane/contracts';
import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startSpecApp, type SpecApp } from './http/spec-app';

let postgres: TestPostgres;
let redis: TestRedis;
let api: SpecApp;
beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  api = await startSpecApp({ databaseUrl: postgres.url, redisUrl: redis.url });
});
afterAll(async () => {
  await api?.stop();
  await Promise.all([postgres?.stop(), redis?.stop()]);
});

// Mutation: take a controller out of its module and its routes are named here.
it.each(Object.entries(routes) as [string, RouteContract][])('%s is served, and closed to callers without credentials', async (_, contract) => {
  const path = contract.path.replace('{slug}', 'x').replace('{id}', '7d444840-9dc0-41d2-a86e-3c1f5a1d5f3a');
  const { status } = await api.call(contract.method, path, { token: null, ...(contract.method === 'GET' ? {} : { body: {} }) });
  // Sign-in is open and wants a body; what is only read is open altogether.
  const open = contract.method === 'GET' ? 200 : 422;
  expect(status).toBe(contract.access === 'public' ? open : 401);
});
