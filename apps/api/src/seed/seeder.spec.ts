import { redisKeys } from '@quotaplane/contracts';
import { hashSecret } from '@quotaplane/guard';
import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ChangesService } from '../audit/changes.service';
import { OutboxRig } from '../outbox/outbox-rig';
import { Seeder } from './seeder';

let postgres: TestPostgres;
let redisServer: TestRedis;
let rig: OutboxRig;
let seeder: Seeder;
beforeAll(async () => {
  [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
  rig = await OutboxRig.over({ postgres, redisServer });
  seeder = new Seeder(rig.prisma, new ChangesService(rig.prisma, rig.clock, null), rig.clock);
});
afterAll(async () => {
  await rig?.stop();
  await Promise.all([postgres?.stop(), redisServer?.stop()]);
});

it('makes a usable platform without the demo', async () => {
  await seeder.run({ withDemo: false });
  await rig.relay().drain();
  expect((await rig.prisma.tenant.findMany({ orderBy: { slug: 'asc' } })).map(({ slug, reserved }) => [slug, reserved])).toEqual([['anonymous', true], ['platform', true]]);
  expect(await rig.redis.exists(redisKeys.classes, redisKeys.fallback, redisKeys.head('anonymous'), redisKeys.head('platform'))).toBe(4);
});

it('adds the demo, once, and keeps what an operator has changed', async () => {
  const startedAt = performance.now();
  await seeder.run({ withDemo: true });
  console.info(`demo seeded in ${Math.round(performance.now() - startedAt)} ms`);
  await rig.prisma.tenant.update({ where: { slug: 'acme' }, data: { name: 'Renamed' } });
  expect(await seeder.run({ withDemo: true })).toBe(0);
  expect((await rig.prisma.tenant.findUniqueOrThrow({ where: { slug: 'acme' } })).name).toBe('Renamed');
  expect(await rig.prisma.usageJournal.count()).toBe(40 * 6);
});

it('reaches Redis through the worker: heads, policies and the key index', async () => {
  const startedAt = performance.now();
  await rig.relay().drain();
  console.info(`demo published in ${Math.round(performance.now() - startedAt)} ms`);
  expect(await rig.prisma.change.count({ where: { publishedAt: null } })).toBe(0);
  for (const slug of ['acme', 'hobby', 'globex']) {
    expect(await rig.redis.get(redisKeys.head(slug))).toMatch(/^\d+\.1$/);
    expect(JSON.parse((await rig.redis.get(redisKeys.key(hashSecret(`demo-${slug}`)))) ?? 'null')).toMatchObject({ tenant: slug });
  }
  const acme = JSON.parse((await rig.redis.get(redisKeys.policy('acme'))) ?? 'null') as { segments: { tier: string }[] };
  expect(acme.segments[0]?.tier).toBe('pro');
});

it('audits each thing it makes', async () => {
  const changes = await rig.prisma.change.findMany({ select: { id: true } });
  const entries = await rig.prisma.auditEntry.findMany({ select: { changeId: true } });
  expect(new Set(entries.map(({ changeId }) => changeId))).toEqual(new Set(changes.map(({ id }) => id)));
});
