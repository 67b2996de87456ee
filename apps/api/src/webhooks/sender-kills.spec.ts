import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { figure, startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FailpointName } from '../config/failpoints';
import { eventually } from '../outbox/worker-rig';
import { Receiver, WebhookRig } from './webhook-rig';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const DELIVERIES = 40;
const KILLS = figure(6, 100);

let folder: string;
let postgres: TestPostgres;
let redis: TestRedis;
let rig: WebhookRig;
let receiver: Receiver;
const children = new Set<ChildProcess>();
beforeAll(async () => {
  [postgres, redis, receiver] = await Promise.all([startPostgres(), startRedis(), Receiver.start()]);
  rig = new WebhookRig({ databaseUrl: postgres.url, redisUrl: redis.url });
  folder = mkdtempSync(join(tmpdir(), 'quotaplane-sender-'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  // The sending room of a worker alone, as the worker assembles it.
  const from = (file: string): string => JSON.stringify(join(ROOT, 'apps/api/src', file));
  writeFileSync(join(folder, 'sender.ts'), `
    import 'reflect-metadata';
    import { NestFactory } from '@nestjs/core';
    import { Clock } from ${from('config/clock')};
    import { readConfig } from ${from('config/app-config')};
    import { ConfigModule } from ${from('config/config.module')};
    import { DatabaseModule } from ${from('database/database.module')};
    import { WebhookSendingModule } from ${from('webhooks/sending.module')};
    import { WebhookSender } from ${from('webhooks/webhook-sender')};
    class Root {}
    const root = { module: Root, imports: [ConfigModule.with(readConfig(process.env), new Clock()), DatabaseModule, WebhookSendingModule] };
    const app = await NestFactory.createApplicationContext(root, { logger: ['error'] });
    app.get(WebhookSender).start();`);
  const call = { input: { sender: join(folder, 'sender.ts') }, tsconfig: join(ROOT, 'apps/api/tsconfig.json'), outDir: join(folder, 'out'), withFailpoints: true };
  const script = `const { bundle } = await import(${JSON.stringify(pathToFileURL(join(ROOT, 'tools/build.mjs')).href)}); await bundle(${JSON.stringify(call)});`;
  execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: ROOT });
}, 120_000);
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rig?.stop();
  await receiver?.stop();
  await Promise.all([postgres?.stop(), redis?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

function launch(failpoint = ''): { child: ChildProcess; ended: Promise<NodeJS.Signals | null> } {
  const env = { PATH: process.env['PATH'], DATABASE_URL: postgres.url, REDIS_URL: redis.url, QUOTAPLANE_WEBHOOKS_ALLOW_PRIVATE: '1', QUOTAPLANE_FAILPOINT: failpoint };
  const child = spawn(process.execPath, [join(folder, 'out/sender.mjs')], { env, stdio: ['ignore', 'inherit', 'inherit'] });
  children.add(child);
  return { child, ended: once(child, 'close').then(([, signal]) => signal as NodeJS.Signals | null) };
}

/** What a minute of waiting does: the claims of the dead run out. */
const expireClaims = () => rig.prisma.webhookDelivery.updateMany({ where: { state: 'pending', leasedUntil: { not: null } }, data: { leasedUntil: new Date(0) } });

// Mutation: mark a delivery before it is sent (loses it at webhook.before-send), or make an id of each attempt's own.
it(`P23 worker killed at every step of a delivery, ${KILLS} times: each event arrives, under one id, and each attempt counts once`, async () => {
  const { id } = await rig.endpoint(receiver.url, { concurrency: 1 });
  const eventIds = await rig.events(Array.from({ length: DELIVERIES }, (_, index) => `kill-${String(index).padStart(3, '0')}`));
  const steps: FailpointName[] = ['webhook.before-send', 'webhook.after-send'];
  for (let kill = 0; kill < KILLS; kill += 1) {
    const { ended } = launch(`${steps[kill % 2]}:${1 + (kill % 3)}`);
    expect(await ended).toBe('SIGKILL');
    await expireClaims();
    // All were delivered before the last kills of a long run: more is needed for those to die at.
    if ((await rig.prisma.webhookDelivery.count({ where: { state: 'pending' } })) < 5) eventIds.push(...(await rig.events([`more-${kill}-a`, `more-${kill}-b`, `more-${kill}-c`])));
  }
  const { child, ended } = launch();
  await eventually(async () => (await rig.prisma.webhookDelivery.count({ where: { webhookId: id, state: 'delivered' } })) === eventIds.length, 30_000);
  child.kill('SIGKILL');
  await ended;
  const rows = await rig.deliveries(id);
  expect(rows.every(({ attempts, log }) => attempts === 1 && Array.isArray(log) && log.length === 1)).toBe(true);
  expect(new Set(receiver.ids)).toEqual(new Set(eventIds));
  // Only what was killed after it was sent came twice.
  const repeated = receiver.received.length - eventIds.length;
  console.info(`${KILLS} kills: ${eventIds.length} events, ${repeated} sent twice, none lost`);
  expect(repeated).toBeGreaterThanOrEqual(1);
  expect(repeated).toBeLessThanOrEqual(Math.floor(KILLS / 2));
}, 60_000 + KILLS * 20_000);
