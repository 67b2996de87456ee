import { parseHead, redisKeys } from '@quotaplane/contracts';
import { hashSecret } from '@quotaplane/guard';
import { Wanted } from '@quotaplane/policy';
import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ChangesService } from '../audit/changes.service';
import { Seeder } from '../seed/seeder';
import { OutboxRig } from './outbox-rig';
import { SWEEPS } from './queue-names';
import { StoreWatch } from './store-watch';
import { contention, eventually, SpecWorker } from './worker-rig';

const SLUGS = ['acme', 'hobby', 'globex'];
const KEY = redisKeys.key(hashSecret('demo-acme'));

let postgres: TestPostgres;
let redisServer: TestRedis;
let rig: OutboxRig;
let workers: SpecWorker[];
beforeAll(async () => {
  [postgres, redisServer] = await Promise.all([startPostgres(), startRedis({ config: ['appendonly yes', 'appendfsync always'] })]);
  rig = await OutboxRig.over({ postgres, redisServer });
  await new Seeder(rig.prisma, new ChangesService(rig.prisma, rig.clock, null), rig.clock).run({ withDemo: true });
  const stores = { databaseUrl: postgres.url, redisUrl: redisServer.url };
  workers = await Promise.all([SpecWorker.start(stores), SpecWorker.start(stores)]);
});
afterAll(async () => {
  await Promise.all((workers ?? []).map((worker) => worker.stop()));
  await rig?.stop();
  await Promise.all([postgres?.stop(), redisServer?.stop()]);
});

const generations = async (): Promise<number[]> => (await rig.prisma.tenant.findMany({ select: { generation: true } })).map(({ generation }) => generation);
/** Every tenant's head is in Redis and the same as in Postgres, and so are key index and documents. */
const isWhole = async (): Promise<boolean> => {
  const tenants = await rig.prisma.tenant.findMany({ select: { slug: true, revision: true, generation: true } });
  const heads = await rig.redis.mget(tenants.map(({ slug }) => redisKeys.head(slug)));
  const isAt = (index: number): boolean => heads[index] === `${tenants[index]?.revision ?? 0}.${tenants[index]?.generation ?? 0}`;
  if ((await rig.prisma.change.count({ where: { publishedAt: null } })) > 0) return false;
  return tenants.every((_, index) => isAt(index)) && (await rig.redis.exists(KEY, redisKeys.classes, redisKeys.fallback)) === 3;
};
const settled = (withinMs: number) => eventually(() => isWhole().catch(() => false), withinMs);
beforeEach(() => settled(60_000), 90_000);
const expectWithin5s = (what: string, tookMs: number): void => {
  const factor = contention();
  console.info(`all back after ${what}: ${Math.round(tookMs)} ms, machine ${factor.toFixed(1)} times slower than alone`);
  expect(tookMs).toBeLessThan(5_000 * factor);
};

// Fails when each worker raises for itself: release the tenant's lock before Redis has the new head, and some generations are 3.
it('puts all of it back within 5 s of a flush, without being asked, and raises each generation once under two workers', async () => {
  const before = await generations();
  const startedAt = performance.now();
  await rig.redis.flushall();
  await settled(60_000);
  expectWithin5s('a flush', performance.now() - startedAt);
  expect(await generations()).toEqual(before.map((generation) => generation + 1));
}, 90_000);

it('puts all of it back within 5 s of a restart that lost everything', async () => {
  const before = await generations();
  await redisServer.kill();
  await redisServer.restart();
  await settled(60_000);
  const kept = await generations();
  expect(kept).toEqual(before);

  await rig.redis.flushall();
  await redisServer.restart({ empty: true });
  const startedAt = performance.now();
  await settled(60_000);
  expectWithin5s('an empty restart', performance.now() - startedAt);
  expect((await generations()).every((generation, index) => generation > (kept[index] ?? 0))).toBe(true);
}, 150_000);

// Mutation: leave alone what looks as it should: its counters may be an hour old.
it('gives every tenant a new generation when Redis is another one, whatever its heads say', async () => {
  const [acme, hobby] = await Promise.all(['acme', 'hobby'].map((slug) => rig.prisma.tenant.findUniqueOrThrow({ where: { slug } })));
  await rig.redis.set(redisKeys.head('acme'), `${(acme?.revision ?? 0) - 1}.${acme?.generation ?? 0}`);
  await rig.prisma.storeIdentity.update({ where: { id: 1 }, data: { runId: 'another' } });
  await eventually(async () => (await rig.prisma.storeIdentity.findUniqueOrThrow({ where: { id: 1 } })).runId !== 'another');
  await settled(60_000);
  expect(parseHead((await rig.redis.get(redisKeys.head('acme'))) ?? '')?.generation).toBe((acme?.generation ?? 0) + 1);
  expect(parseHead((await rig.redis.get(redisKeys.head('hobby'))) ?? '')).toEqual({ revision: (hobby?.revision ?? 0) + 1, generation: (hobby?.generation ?? 0) + 1 });
}, 90_000);

it('serves what is wanted at once: a lost head, an unknown tenant, a lost key, an unknown key', async () => {
  const wanted = new Wanted({ redis: rig.redis });
  await rig.redis.del(redisKeys.head('hobby'), KEY);
  const startedAt = performance.now();
  for (const member of ['tenant:hobby', 'tenant:nobody', `key:${hashSecret('demo-acme')}`, `key:${'0'.repeat(64)}`] as const) wanted.want(member);
  await eventually(async () => (await rig.redis.exists(redisKeys.head('hobby'), redisKeys.head('nobody'), KEY, redisKeys.key('0'.repeat(64)))) === 4);
  console.info(`wanted served in ${Math.round(performance.now() - startedAt)} ms`);
  expect(await rig.redis.get(redisKeys.head('nobody'))).toBe('unknown');
  expect(await rig.redis.pttl(redisKeys.head('nobody'))).toBeGreaterThan(0);
  expect(await rig.redis.get(redisKeys.key('0'.repeat(64)))).toBe('none');
  for (const slug of SLUGS) expect(await rig.redis.pttl(redisKeys.head(slug))).toBe(-1);
});

// Mutation: read heads with a plain GET (one planted list then keeps the whole page from being published), or take a policy that is there for one that can be read.
it('puts right what stands in the place of a head, a policy or a key, and serves the neighbours of the same page meanwhile', async () => {
  const wanted = new Wanted({ redis: rig.redis });
  await rig.redis.del(redisKeys.head('acme'), redisKeys.head('hobby'), redisKeys.head('globex'), KEY);
  await rig.redis.rpush(redisKeys.head('acme'), 'x');
  await rig.redis.set(redisKeys.head('hobby'), `${'9'.repeat(20)}.1`);
  await rig.redis.sadd(KEY, 'x');
  await rig.redis.set(redisKeys.policy('northwind'), '{"v":');
  await rig.redis.del(redisKeys.policy('lumen'));
  await rig.redis.hset(redisKeys.policy('lumen'), 'x', 'y');
  for (const slug of ['acme', 'hobby', 'globex', 'northwind', 'lumen']) wanted.want(`tenant:${slug}`);
  wanted.want(`key:${hashSecret('demo-acme')}`);
  await settled(20_000);
  const texts = await eventually(async () => {
    const read = await Promise.all(['northwind', 'lumen'].map((slug) => rig.redis.get(redisKeys.policy(slug)).catch(() => null)));
    return read.every((text) => text?.startsWith('{"v":1,') === true) && read;
  });
  expect(texts.map((text) => (JSON.parse(text ?? '') as { tenant: string }).tenant)).toEqual(['northwind', 'lumen']);
  expect(await rig.redis.get(KEY)).toContain('"tenant":"acme"');
}, 90_000);

// Mutation: leave them there. Recovery, the change feed, the ledger and receipts then stand still until somebody finds the key.
it('removes platform keys of another type, and all goes on', async () => {
  for (const key of [redisKeys.classes, redisKeys.fallback, redisKeys.lists, redisKeys.wanted, redisKeys.nodes, redisKeys.journals, redisKeys.journalAcks, redisKeys.penalties]) {
    await rig.redis.del(key);
    await rig.redis.rpush(key, 'x');
  }
  await rig.redis.set(redisKeys.changes, 'x');
  const isClear = async (): Promise<boolean> => (await rig.redis.type(redisKeys.changes)) !== 'string' && (await rig.redis.type(redisKeys.journals)) !== 'list' && (await rig.redis.type(redisKeys.lists)) === 'string';
  await eventually(isClear, 20_000);
  await settled(20_000);
}, 90_000);

// Mutations: name a schedule anew with each upsert; take the queue for whole where some stand.
it.each<[string, readonly string[]]>([
  ['all', Object.keys(SWEEPS)], ['all but one', Object.keys(SWEEPS).slice(1)], ['one', ['usage']], ['none', []],
])('C071 keeps one schedule for each sweep where %s were lost, whoever upserts it and however often', async (_, lost) => {
  const ensure = workers.map((worker) => worker.app.get(StoreWatch));
  await rig.redis.zrem('{qp-jobs}:sweeps:repeat', '', ...lost);
  await Promise.all(Array.from({ length: 20 }, (_each, index) => ensure[index % 2]?.check()));
  expect((await rig.redis.zrange('{qp-jobs}:sweeps:repeat', 0, -1)).sort()).toEqual(Object.keys(SWEEPS).sort());
});

it('publishes what was changed while Redis was away', async () => {
  const { id } = await rig.prisma.tenant.findUniqueOrThrow({ where: { slug: 'acme' } });
  await redisServer.kill();
  const changeId = await rig.override(id, 'acme', 333);
  await redisServer.restart();
  const startedAt = performance.now();
  await eventually(async () => (await rig.prisma.change.findUniqueOrThrow({ where: { id: changeId } })).publishedAt, 10_000);
  console.info(`published ${Math.round(performance.now() - startedAt)} ms after Redis came back`);
  expect((await rig.redis.get(redisKeys.policy('acme')))?.includes('"burst":333')).toBe(true);
}, 30_000);
