import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { redisKeys } from '@quotaplane/contracts';
import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { OffenderLog } from '@quotaplane/usage';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ChangesService } from '../audit/changes.service';
import { Clock } from '../config/clock';
import { PrismaService } from '../database/prisma.service';
import { ADMIN_TOKEN, startSpecApp, type SpecApp } from '../http/spec-app';
import { contention, eventually, SpecWorker } from '../outbox/worker-rig';
import { Seeder } from '../seed/seeder';

let postgres: TestPostgres;
let redisServer: TestRedis;
let api: SpecApp;
let worker: SpecWorker;
let redis: Redis;
let port: number;
beforeAll(async () => {
  [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
  const stores = { databaseUrl: postgres.url, redisUrl: redisServer.url };
  redis = new Redis(redisServer.url);
  api = await startSpecApp(stores);
  await api.app.listen(0, '127.0.0.1');
  port = (api.app.getHttpServer().address() as AddressInfo).port;
  await new Seeder(api.app.get(PrismaService), api.app.get(ChangesService), new Clock()).run({ withDemo: true });
  worker = await SpecWorker.start(stores);
  await eventually(async () => (await api.call('GET', '/health/ready')).status === 200, 60_000);
});
afterAll(async () => {
  await worker?.stop();
  redis?.disconnect();
  await Promise.all([postgres?.stop(), redisServer?.stop()]);
});

interface Heard {
  readonly response: IncomingMessage;
  readonly events: { readonly event: string; readonly data: Record<string, unknown> }[];
}
const listen = async (token = ADMIN_TOKEN): Promise<Heard> => {
  const request = get({ host: '127.0.0.1', port, path: '/v1/events', headers: { authorization: `Bearer ${token}` } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const events: Heard['events'] = [];
  let text = '';
  response.on('data', (chunk) => {
    text += String(chunk);
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const match = /^event: (\w+)\ndata: (.*)$/.exec(block);
      if (match) events.push({ event: match[1] ?? '', data: JSON.parse(match[2] ?? '{}') as Record<string, unknown> });
    }
  });
  return { response, events };
};
const say = async (position: string): Promise<void> => {
  const [seconds, micros] = await redis.time();
  const nowMs = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
  const word = { incarnation: 'a', service: 'echo', kind: 'service', version: '1', host: 'spec', pid: 1, startedAtMs: nowMs, seenAtMs: nowMs, position, appliedAtMs: nowMs, mode: 'healthy' };
  await redis.hset(redisKeys.nodes, 'a', JSON.stringify(word));
};

it('tells open consoles of a change, its receipts, the nodes and denials, as they happen', async () => {
  await say('0-0');
  const { response, events } = await listen();
  expect([response.statusCode, response.headers['content-type'], response.headers['cache-control']]).toEqual([200, 'text/event-stream; charset=utf-8', 'no-store']);
  await eventually(() => Promise.resolve(events.some(({ event }) => event === 'nodes')));
  const { body } = await api.call('POST', '/v1/overrides', { body: { tenant: 'hobby', set: { limits: { 'per-minute': { burst: 60 } } }, reason: 'launch' } });
  const change = await eventually(() => Promise.resolve(events.find(({ event, data }) => event === 'change' && data['changeId'] === body['changeId'])));
  expect(change.data).toMatchObject({ topic: 'tenant', subject: 'hobby' });
  await say(String(change.data['position']));
  const receipts = await eventually(() => Promise.resolve(events.find(({ event, data }) => event === 'receipts' && data['id'] === body['changeId'] && data['tookMs'] !== null)));
  expect(receipts.data).toMatchObject({ id: body['changeId'], nodes: { live: 1, total: 1, lagging: [] } });
  const offenders = new OffenderLog({ redis, storeNow: () => Date.now() });
  for (let index = 0; index < 3; index += 1) offenders.record({ tenant: 'hobby', scope: 'tenant', subject: 'hobby', limit: 'per-minute', class: 'default' });
  await offenders.flush();
  const denials = await eventually(() => Promise.resolve(events.find(({ event, data }) => event === 'denials' && (data['items'] as unknown[]).length > 0)));
  expect(denials.data).toMatchObject({ items: [{ tenant: 'hobby', tier: 'free', denials: 3, share: 1, limits: [{ name: 'per-minute', denials: 3 }] }] });
  expect((await api.call('GET', '/v1/offenders?minutes=15')).body).toMatchObject({ items: [{ tenant: 'hobby', subject: { scope: 'tenant', id: 'hobby' } }] });
  response.destroy();
});

it('ends a stream within 2 s of its token\'s revocation', async () => {
  const made = await api.call('POST', '/v1/tokens', { body: { name: 'watcher', scopes: ['nodes:read'], binding: { kind: 'platform' } } });
  const { response } = await listen(String(made.body['secret']));
  const ended = once(response, 'end');
  await api.call('DELETE', `/v1/tokens/${String(made.body['id'])}`, { ifMatch: 1 });
  const startedAt = performance.now();
  await ended;
  expect(performance.now() - startedAt).toBeLessThan(2_000 * contention());
});

it('does not hold the process up when it stops', async () => {
  const { response } = await listen();
  const ended = once(response, 'end');
  const startedAt = performance.now();
  await Promise.all([api.stop(), ended]);
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});
