import { policySchema, redisKeys, type Policy } from '@quotaplane/contracts';
import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ChangeRelay } from './change-relay';
import { OutboxRig } from './outbox-rig';
import { TenantPublisher } from './tenant-publisher';
import { contention, eventually } from './worker-rig';

let postgres: TestPostgres;
let redisServer: TestRedis;
let rig: OutboxRig;
let tier: string;
beforeAll(async () => {
  [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
  rig = await OutboxRig.over({ postgres, redisServer });
  tier = await rig.tier('free');
});
afterAll(async () => {
  await rig?.stop();
  await Promise.all([postgres?.stop(), redisServer?.stop()]);
});

const policyOf = async (slug: string): Promise<Policy> => policySchema.parse(JSON.parse((await rig.redis.get(redisKeys.policy(slug))) ?? 'null'));
const burstOf = async (slug: string): Promise<number | null | undefined> => (await policyOf(slug)).segments[0]?.limits[0]?.burst;
const revisionsOf = async (slug: string): Promise<number[]> => {
  const entries = await rig.redis.xrange(redisKeys.changes, '-', '+');
  return entries.map(([, fields]) => Object.fromEntries(fields.flatMap((value, index) => (index % 2 === 0 ? [[value, fields[index + 1] ?? '']] : [])) as [string, string][]))
    .filter((entry) => entry['subject'] === slug).map((entry) => Number((entry['revision'] ?? '').split('.')[0]));
};

it('publishes a change within 100 ms of its commit and marks it done with its revision and feed id', async () => {
  const id = await rig.tenant('quick', tier);
  await rig.relay().drain();
  const tookMs: number[] = [];
  const before = contention();
  for (let burst = 30; burst < 50; burst += 1) {
    const changeId = await rig.override(id, 'quick', burst);
    const startedAt = performance.now();
    await rig.relay().drain();
    tookMs.push(performance.now() - startedAt);
    const change = await rig.prisma.change.findUniqueOrThrow({ where: { id: changeId }, include: { revisions: true } });
    expect(change.position).toMatch(/^\d+-\d+$/);
    expect(change.publishedAt).not.toBeNull();
    expect(change.revisions.map(({ tenant, revision }) => `${tenant} ${revision}.1`)).toEqual([`quick ${(await rig.redis.get(redisKeys.head('quick'))) ?? ''}`]);
    expect(await burstOf('quick')).toBe(burst);
  }
  tookMs.sort((a, b) => a - b);
  const factor = Math.max(before, contention());
  console.info(`commit to published: median ${Math.round(tookMs[10] ?? 0)} ms, worst ${Math.round(tookMs[19] ?? 0)} ms, machine ${factor.toFixed(1)} times slower than alone`);
  expect(tookMs[10]).toBeLessThan(100 * factor);
});

// Fails when a key is published while its tenant's own change is still with another run, or not claimed yet.
it('lets no key work before the policy of its tenant is there', async () => {
  const tenantId = await rig.tenant('new-with-key', tier);
  await rig.prisma.change.updateMany({ where: { publishedAt: null }, data: { publishedAt: new Date() } });
  const secretHash = '5e'.repeat(32);
  await rig.prisma.apiKey.create({ data: { tenantId, name: 'first', secretHash, hint: 'qpk_', createdBy: 'spec' } });
  await OutboxRig.change(rig.prisma, [{ kind: 'key', hash: secretHash }]);
  await rig.relay().drain();
  expect(await rig.redis.get(redisKeys.key(secretHash))).toContain('"new-with-key"');
  expect(await rig.redis.get(redisKeys.head('new-with-key'))).toBe('1.1');
});

// Fails when the relay claims without a row lock, or reads a tenant's rows before it has the tenant's lock.
it('P24 four relays and 200 changes: revisions only grow, and each change is contained in a published one', async () => {
  const ids = await Promise.all(Array.from({ length: 5 }, (_, index) => rig.tenant(`race-${index}`, tier)));
  const relays = Array.from({ length: 4 }, () => rig.relay());
  const changes: string[] = [];
  for (let round = 0; round < 40; round += 1) {
    changes.push(...(await Promise.all(ids.map((id, index) => rig.override(id, `race-${index}`, 100 + round)))));
    void relays[round % 4]?.drain().catch(() => undefined);
  }
  await Promise.all(relays.map((relay) => relay.drain()));
  // A run that another call started may still hold the last claims.
  await eventually(async () => (await rig.prisma.change.count({ where: { publishedAt: null } })) === 0);
  const rows = await rig.prisma.change.findMany({ where: { id: { in: changes } }, include: { revisions: true } });
  expect(rows.length).toBe(200);
  expect(rows.filter(({ publishedAt }) => publishedAt === null)).toEqual([]);
  for (let index = 0; index < 5; index += 1) {
    const slug = `race-${index}`;
    const revisions = await revisionsOf(slug);
    expect(revisions).toEqual([...revisions].sort((a, b) => a - b));
    expect(await burstOf(slug)).toBe(139);
    const { revision } = await rig.prisma.tenant.findUniqueOrThrow({ where: { slug } });
    expect((await policyOf(slug)).revision).toBe(revision);
    for (const row of rows.flatMap((change) => change.revisions).filter((entry) => entry.tenant === slug)) expect(row.revision).toBeLessThanOrEqual(revision);
  }
}, 60_000);

class CutShort extends ChangeRelay {
  protected override beforeMark(): Promise<void> {
    return Promise.reject(new Error('killed between publish and mark'));
  }
}

it('is harmless to repeat when the worker dies between publish and mark', async () => {
  const id = await rig.tenant('cut', tier);
  await rig.relay().drain();
  const changeId = await rig.override(id, 'cut', 77);
  const dying = new CutShort(rig.prisma, rig.tenants, rig.keys, rig.catalogue, rig.metrics);
  await expect(dying.drain()).rejects.toThrow('killed');
  expect((await rig.prisma.change.findUniqueOrThrow({ where: { id: changeId } })).publishedAt).toBeNull();
  expect(await burstOf('cut')).toBe(77);
  await rig.relay().drain();
  expect((await rig.prisma.change.findUniqueOrThrow({ where: { id: changeId } })).publishedAt).not.toBeNull();
  expect(await burstOf('cut')).toBe(77);
  const revisions = await revisionsOf('cut');
  expect(revisions).toEqual([...revisions].sort((a, b) => a - b));
});

it('raises a row above Redis when Postgres was restored from a backup', async () => {
  const id = await rig.tenant('restored', tier);
  await OutboxRig.change(rig.prisma, [{ kind: 'tenant', slug: 'restored' }]);
  await rig.relay().drain();
  await rig.redis.set(redisKeys.head('restored'), '40.3');
  await rig.override(id, 'restored', 55);
  await rig.relay().drain();
  expect(await rig.redis.get(redisKeys.head('restored'))).toBe('41.3');
  expect(await burstOf('restored')).toBe(55);
});

// Fails when the head is read once only: the old generation is then written into a Redis that has lost its counters.
it('raises the generation also when Redis is flushed between the look at a head and the publish', async () => {
  const id = await rig.tenant('flushed', tier);
  await OutboxRig.change(rig.prisma, [{ kind: 'tenant', slug: 'flushed' }]);
  await rig.relay().drain();
  await rig.override(id, 'flushed', 88);
  let isFlushed = false;
  const readThenFlush = async (keys: string[]): Promise<(string | null)[]> => {
    const heads = await rig.redis.mget(keys);
    if (!isFlushed) await rig.redis.flushall();
    isFlushed = true;
    return heads;
  };
  const trap = new Proxy(rig.redis, {
    get: (target, name) => {
      const member: unknown = name === 'mget' ? readThenFlush : Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  await new TenantPublisher(rig.prisma, trap, rig.metrics, rig.bases).publish(['flushed']);
  expect(await rig.redis.get(redisKeys.head('flushed'))).toBe('3.2');
  expect(await rig.prisma.tenant.findUniqueOrThrow({ where: { id } })).toMatchObject({ revision: 3, generation: 2 });
  await rig.relay().drain();
});

it('keeps what cannot be published in the outbox and lets the others pass', async () => {
  await rig.prisma.tenant.create({ data: { slug: 'no-tier', name: 'no tier' } });
  const id = await rig.tenant('fine', tier);
  const broken = await OutboxRig.change(rig.prisma, [{ kind: 'tenant', slug: 'no-tier' }]);
  const good = await rig.override(id, 'fine', 66);
  await rig.relay().drain();
  const kept = await rig.prisma.change.findUniqueOrThrow({ where: { id: broken } });
  expect([kept.publishedAt, kept.attempts, kept.lastError?.startsWith('no-tier')]).toEqual([null, 1, true]);
  expect((await rig.prisma.change.findUniqueOrThrow({ where: { id: good } })).publishedAt).not.toBeNull();
  await rig.prisma.change.delete({ where: { id: broken } });
});

it('does not let a change of a whole tier keep a single tenant waiting', async () => {
  const id = await rig.tenant('urgent', tier);
  const slow = await OutboxRig.change(rig.prisma, [{ kind: 'tier', slug: 'free' }]);
  const urgent = await rig.override(id, 'urgent', 44);
  await rig.relay().drain();
  const [first, last] = await Promise.all([urgent, slow].map((changeId) => rig.prisma.change.findUniqueOrThrow({ where: { id: changeId } })));
  expect(first?.publishedAt?.getTime()).toBeLessThanOrEqual(last?.publishedAt?.getTime() ?? 0);
  expect(first?.tenantCount).toBe(1);
});

it('carries a change of a tier to all its tenants, in pages', async () => {
  const wide = await rig.tier('wide');
  for (let index = 0; index < 230; index += 1) await rig.tenant(`wide-${String(index).padStart(3, '0')}`, wide);
  const changeId = await OutboxRig.change(rig.prisma, [{ kind: 'tier', slug: 'wide' }]);
  await rig.relay().drain();
  const change = await rig.prisma.change.findUniqueOrThrow({ where: { id: changeId }, include: { revisions: true } });
  expect([change.tenantCount, change.revisions.length]).toEqual([230, 230]);
  expect(await rig.redis.get(redisKeys.head('wide-229'))).toBe('1.1');
}, 60_000);

class Mortal extends ChangeRelay {
  pages = 0;

  protected override async betweenPages(): Promise<void> {
    this.pages += 1;
    // As after a kill: nothing is marked, and the claim is given back.
    if (this.pages === 2) void this.stop();
    await super.betweenPages();
  }
}

// Mutations: leave out recordRevisions and the second relay publishes the first page again; claim FOR UPDATE and no page can write its revisions.
it('goes on with a tier where a killed worker left it, also with two workers at once', async () => {
  const halfway = await rig.tier('halfway');
  const slugs = Array.from({ length: 600 }, (_, index) => `halfway-${String(index).padStart(3, '0')}`);
  for (const slug of slugs) await rig.tenant(slug, halfway);
  const changeId = await OutboxRig.change(rig.prisma, [{ kind: 'tier', slug: 'halfway' }]);
  const dying = new Mortal(rig.prisma, rig.tenants, rig.keys, rig.catalogue, rig.metrics);
  void dying.drain().catch(() => undefined);
  await eventually(async () => (await rig.prisma.changeRevision.count({ where: { changeId } })) >= 250);
  await eventually(() => Promise.resolve(dying.pages >= 2));
  await Promise.all([rig.relay(), rig.relay()].map((relay) => relay.drain()));
  await eventually(async () => {
    await rig.relay().drain();
    return (await rig.prisma.change.findUniqueOrThrow({ where: { id: changeId } })).publishedAt;
  });
  const change = await rig.prisma.change.findUniqueOrThrow({ where: { id: changeId }, include: { revisions: true } });
  expect([change.tenantCount, change.revisions.length]).toEqual([600, 600]);
  const heads = await rig.redis.mget(slugs.map((slug) => redisKeys.head(slug)));
  expect(heads.filter((head) => head === null)).toEqual([]);
  // The first page was published before the end came, and only then.
  expect(await rig.redis.get(redisKeys.head('halfway-000'))).toBe('1.1');
  expect(await revisionsOf('halfway-000')).toEqual([1]);
  for (const slug of ['halfway-300', 'halfway-599']) {
    const revisions = await revisionsOf(slug);
    expect(revisions).toEqual([...revisions].sort((a, b) => a - b));
    expect((await policyOf(slug)).revision).toBe(revisions.at(-1));
  }
}, 60_000);

// Mutation: claim both lanes in one query, and the raise waits for all pages.
it('publishes a raise while a tier is on its way', async () => {
  const id = await rig.tenant('beside', tier);
  await rig.relay().drain();
  const relay = rig.relay();
  const slow = await OutboxRig.change(rig.prisma, [{ kind: 'tier', slug: 'halfway' }]);
  const tierDone = relay.drain();
  const urgent = await rig.override(id, 'beside', 91);
  await relay.drainUrgent();
  const raised = await rig.prisma.change.findUniqueOrThrow({ where: { id: urgent } });
  await tierDone;
  const published = await rig.prisma.change.findUniqueOrThrow({ where: { id: slow } });
  expect(raised.publishedAt?.getTime()).toBeLessThanOrEqual(published.publishedAt?.getTime() ?? 0);
  expect(await burstOf('beside')).toBe(91);
}, 60_000);

it('publishes keys, and their revocation as a tombstone', async () => {
  const tenantId = await rig.tenant('keyed', tier);
  const key = await rig.prisma.apiKey.create({ data: { tenantId, name: 'k', secretHash: 'a'.repeat(64), hint: 'qpk_', createdBy: 'spec' } });
  await OutboxRig.change(rig.prisma, [{ kind: 'key', hash: key.secretHash }]);
  await rig.relay().drain();
  expect(JSON.parse((await rig.redis.get(redisKeys.key(key.secretHash))) ?? '')).toEqual({ tenant: 'keyed', keyId: key.id, userId: null, kind: 'customer' });
  await rig.prisma.apiKey.update({ where: { id: key.id }, data: { revokedAt: new Date() } });
  await OutboxRig.change(rig.prisma, [{ kind: 'key', hash: key.secretHash }]);
  await rig.relay().drain();
  expect(await rig.redis.get(redisKeys.key(key.secretHash))).toBe('none');
});

it('publishes the catalogue and the fallback with revisions that only grow, also past what Redis holds', async () => {
  await rig.prisma.settings.create({ data: { id: 1, fallbackTier: 'free' } });
  await rig.prisma.endpointClass.create({ data: { slug: 'default' } });
  await OutboxRig.change(rig.prisma, [{ kind: 'classes' }, { kind: 'fallback' }]);
  await rig.relay().drain();
  const held = JSON.parse((await rig.redis.get(redisKeys.classes)) ?? '') as { revision: number };
  await rig.redis.set(redisKeys.classes, JSON.stringify({ ...held, revision: 5000 }));
  await OutboxRig.change(rig.prisma, [{ kind: 'classes' }, { kind: 'tier', slug: 'free' }]);
  const before = JSON.parse((await rig.redis.get(redisKeys.fallback)) ?? '') as { revision: number };
  await rig.relay().drain();
  expect(JSON.parse((await rig.redis.get(redisKeys.classes)) ?? '')).toMatchObject({ revision: 5001, classes: { default: { cost: 1, failMode: 'local' } } });
  expect((JSON.parse((await rig.redis.get(redisKeys.fallback)) ?? '') as { revision: number }).revision).toBeGreaterThan(before.revision);
});
