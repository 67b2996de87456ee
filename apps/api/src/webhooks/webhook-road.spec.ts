import { NestFactory } from '@nestjs/core';
import type { INestApplicationContext } from '@nestjs/common';
import { EVENT_DATA, webhookBody } from '@quotaplane/contracts';
import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readConfig } from '../config/app-config';
import { startSpecApp, type SpecApp } from '../http/spec-app';
import { OutboxRig } from '../outbox/outbox-rig';
import { eventually } from '../outbox/worker-rig';
import { WorkerModule } from '../worker.module';
import { Receiver } from './webhook-rig';

const ALLOW = { QUOTAPLANE_WEBHOOKS_ALLOW_PRIVATE: '1' };
let postgres: TestPostgres;
let redis: TestRedis;
let api: SpecApp;
let worker: INestApplicationContext;
let receiver: Receiver;
let rig: OutboxRig;
beforeAll(async () => {
  [postgres, redis, receiver] = await Promise.all([startPostgres(), startRedis(), Receiver.start()]);
  rig = await OutboxRig.over({ postgres, redisServer: redis });
  await rig.tier('free');
  api = await startSpecApp({ databaseUrl: postgres.url, redisUrl: redis.url }, { env: ALLOW });
  worker = await NestFactory.createApplicationContext(WorkerModule.with(readConfig({ DATABASE_URL: postgres.url, REDIS_URL: redis.url, ...ALLOW })), { logger: ['error'] });
  worker.get(WorkerModule).start();
});
afterAll(async () => {
  await worker?.get(WorkerModule).stop();
  await worker?.close();
  await api?.stop();
  await receiver?.stop();
  await rig?.stop();
  await Promise.all([postgres?.stop(), redis?.stop()]);
});

// Mutation: leave the sender or the sweep `events` out of the worker.
it('tells a receiver of an override that ends soon: through the API, the sweep and the worker', async () => {
  const { body: endpoint } = await api.call('POST', '/v1/webhooks', { body: { url: receiver.url, events: ['override.ending'] } });
  expect((await api.call('POST', '/v1/tenants', { body: { slug: 'acme', name: 'Acme', tier: 'free' } })).status).toBe(201);
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const override = await api.call('POST', '/v1/overrides', {
    body: { tenant: 'acme', subject: { scope: 'tenant' }, mode: 'exactly', set: { limits: { 'per-minute': { burst: 50 } } }, reason: 'launch day', until },
  });
  expect(override.status).toBe(201);
  await eventually(() => Promise.resolve(receiver.received.length > 0), 30_000);
  const [delivery] = receiver.received;
  const verified = webhookBody.parse(new Webhook(endpoint.secret ?? '').verify(delivery?.body ?? '', delivery?.headers ?? {}));
  expect(EVENT_DATA['override.ending'].parse(verified.data)).toEqual({ tenant: 'acme', overrideId: override.body.id, until, reason: 'launch day' });
  const log = await eventually(async () => {
    const answer = await api.call('GET', `/v1/webhooks/${endpoint.id}/deliveries?state=delivered`);
    return answer.body.items?.[0];
  });
  expect(log).toMatchObject({ webhookId: endpoint.id, event: { id: delivery?.headers['webhook-id'] }, attempts: 1 });
}, 60_000);
