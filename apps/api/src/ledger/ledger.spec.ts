import { redisKeys, type UsageItem } from '@quotaplane/contracts';
import { quotaKeys, type QuotaName } from '@quotaplane/rate-limit';
import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { periodAt } from '@quotaplane/usage';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OutboxRig } from '../outbox/outbox-rig';
import { TenantPublisher } from '../outbox/tenant-publisher';
import { UsageFold } from '../usage/usage-fold';
import { LedgerUpdates } from './ledger-updates';
import { QuotaBases } from './quota-bases';
import { Reconciliation, type Sample } from './reconciliation';
import { cellOf, enforcedUse, SpecNode } from './spec-node';
import { ThresholdWatch } from './threshold-watch';
import { touchUsage } from './touch-usage';

const { id: periodId } = periodAt({ timezone: 'UTC', anchorDay: 1, nowMs: Date.now() });

let postgres: TestPostgres;
let redisServer: TestRedis;
let rig: OutboxRig;
let fold: UsageFold;
let tier: string;
let lives = 0;
let slug: string;
beforeAll(async () => {
  [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
  rig = await OutboxRig.over({ postgres, redisServer });
  fold = rig.fold();
  tier = await rig.tier('metered', { quotas: [{ meter: 'requests', allowance: 1_000, overage: 'bill', alertAt: [50, 80, 100] }], degraded: 'bill' });
});
afterAll(async () => {
  await rig?.stop();
  await Promise.all([postgres?.stop(), redisServer?.stop()]);
});
beforeEach(async () => {
  slug = `tenant-${++lives}`;
  // What nodes of other tests left unflushed must not hold up this one.
  await rig.prisma.incarnation.updateMany({ where: { service: 'spec' }, data: { closedAt: new Date() } });
  await rig.redis.del(redisKeys.nodes);
  await rig.tenant(slug, tier);
  await rig.tenants.publish([slug]);
});

const nameOf = (generation = 1, part = 1): QuotaName => ({ tenant: slug, meter: 'requests', periodId, part, generation });
const item = async (): Promise<UsageItem | undefined> => (await rig.ledger.itemsOf([slug], 'current', await rig.ledger.asOf()))[0];
const generation = async (): Promise<number> => (await rig.prisma.tenant.findUniqueOrThrow({ where: { slug } })).generation;
/** As Redis is when it was started empty: what the tenant had there is gone. */
const lose = async (): Promise<void> => {
  const keys = await rig.redis.keys(`qp:{${slug}}:*`);
  await rig.redis.del(...keys);
};

describe('the base of a quota', () => {
  // Mutations: write the head first; leave out the earlier generations; begin the new counter at 0.
  it('is in Redis before the head of a new generation, and counts on from the ledger', async () => {
    const node = new SpecNode(rig.redis);
    await node.admit(nameOf(), 300);
    await node.refund(nameOf(), 20);
    await node.journal.flush();
    await fold.run();
    await lose();
    await rig.tenants.publish([slug], { onlyWhereLacking: true });
    expect(await generation()).toBe(2);
    expect(await rig.redis.hgetall(quotaKeys(nameOf(2)).base)).toEqual({ plus: '300', minus: '20' });
    await node.admit(nameOf(2), 5);
    expect(await enforcedUse(rig.redis, nameOf(2))).toBe(285);
    expect(await rig.redis.pttl(quotaKeys(nameOf(2)).base)).toBeGreaterThan(0);
  });

  it('grows with what nodes still write of the generation that was lost, however often and in whatever order', async () => {
    const [one, two] = [new SpecNode(rig.redis), new SpecNode(rig.redis)];
    await one.admit(nameOf(), 100);
    await two.admit(nameOf(), 50);
    await lose();
    await rig.tenants.publish([slug], { onlyWhereLacking: true });
    expect(await enforcedUse(rig.redis, nameOf(2))).toBe(0);
    await one.journal.flush();
    await fold.run();
    expect(await enforcedUse(rig.redis, nameOf(2))).toBe(100);
    await two.journal.flush();
    await Promise.all([fold.run(), rig.fold().run()]);
    await rig.bases.publish([{ tenant: slug, periodId }], Date.now());
    expect(await enforcedUse(rig.redis, nameOf(2))).toBe(150);
    expect((await item())?.used).toBe('150');
  });

  // Mutation: do not come back to tenants that were published; their next call would be judged without those units.
  it('has what a fold brings while the generation is being raised', async () => {
    const node = new SpecNode(rig.redis);
    await node.admit(nameOf(), 40);
    await node.journal.flush();
    await fold.run();
    await node.admit(nameOf(), 30);
    await lose();
    // The fold commits, and writes the base of the generation before, after the new one's was worked out and before it is in force.
    class Overtaken extends QuotaBases {
      override async publishRaised(...raise: Parameters<QuotaBases['publishRaised']>): Promise<void> {
        await super.publishRaised(...raise);
        await node.journal.flush();
        await fold.run();
      }
    }
    await new TenantPublisher(rig.prisma, rig.redis, rig.metrics, new Overtaken(rig.prisma, rig.redis, rig.ledger)).publish([slug], { onlyWhereLacking: true });
    expect(await generation()).toBe(2);
    await fold.run();
    expect(await enforcedUse(rig.redis, nameOf(2))).toBe(70);
  });

  // Mutation: let a base be lowered by an older reading that comes late.
  it('never goes back', async () => {
    const node = new SpecNode(rig.redis);
    await node.admit(nameOf(), 10);
    await node.journal.flush();
    await fold.run();
    await lose();
    await rig.redis.hset(quotaKeys(nameOf(2)).base, { plus: '12', minus: '1' });
    await rig.tenants.publish([slug], { onlyWhereLacking: true });
    expect(await rig.redis.hgetall(quotaKeys(nameOf(2)).base)).toEqual({ plus: '12', minus: '1' });
  });

  // Mutations: forget the notes of records; delete them before they are followed.
  it('has records, corrections and what outages gave away as far as it counts', async () => {
    const node = new SpecNode(rig.redis);
    node.journal.admitDegraded(cellOf(nameOf()), 40);
    await node.journal.flush();
    await fold.run();
    expect(await enforcedUse(rig.redis, nameOf())).toBe(40);
    await rig.prisma.transaction(async (tx) => {
      await tx.usageExternal.create({ data: { tenant: slug, periodId, meter: 'requests', part: 1, external: 25n, corrections: 5n } });
      await touchUsage(tx, [{ tenant: slug, periodId }]);
    });
    await fold.run();
    expect(await enforcedUse(rig.redis, nameOf())).toBe(60);
    expect(await rig.prisma.usageTouch.count()).toBe(0);
    expect(await item()).toMatchObject({ used: '60', breakdown: { degraded: '40', settled: '40', external: '25', corrections: '-5' } });
  });

  // Mutation: keep the generation where Redis was replaced, and old counters stand for new ones.
  it('is made anew for every tenant when Redis is another one that came with old data', async () => {
    const node = new SpecNode(rig.redis);
    await node.admit(nameOf(), 70);
    await node.journal.flush();
    await fold.run();
    await rig.redis.set(quotaKeys(nameOf()).counter, '30');
    await rig.tenants.publish([slug], { onlyWhereLacking: true, isStoreReplaced: true });
    expect(await generation()).toBe(2);
    expect(await rig.redis.get(redisKeys.head(slug))).toMatch(/\.2$/);
    expect(await enforcedUse(rig.redis, nameOf(2))).toBe(70);
  });
});

describe('thresholds', () => {
  const reached = async (): Promise<number[]> => (await item())?.thresholds.map(({ percent }) => percent) ?? [];

  // Mutations: record only the highest one; record them again with each fold; know a threshold by its tenant alone.
  it('are recorded once each, also when a burst crosses several and two workers look at once', async () => {
    const node = new SpecNode(rig.redis);
    await node.admit(nameOf(), 499);
    await node.journal.flush();
    await fold.run();
    expect(await reached()).toEqual([]);
    await node.admit(nameOf(), 400);
    await node.journal.flush();
    await Promise.all([fold.run(), rig.fold().run(), rig.fold().run()]);
    expect(await reached()).toEqual([50, 80]);
    await node.admit(nameOf(), 200);
    await node.journal.flush();
    await fold.run();
    await rig.fold().run();
    expect(await reached()).toEqual([50, 80, 100]);
    const events = await rig.prisma.event.findMany({ where: { tenant: slug } });
    expect(events.map(({ data }) => (data as { used: string }).used).sort()).toEqual(['1099', '899', '899']);
  });

  // Mutation: look only where something was used, and believe the distance to the next threshold whatever was published.
  it('are reached without a call, too, when the allowance is lowered below them', async () => {
    const node = new SpecNode(rig.redis);
    await node.admit(nameOf(), 499);
    await node.journal.flush();
    const watching = rig.fold();
    await watching.run();
    expect(await reached()).toEqual([]);
    const { id: tenantId } = await rig.prisma.tenant.findUniqueOrThrow({ where: { slug } });
    const now = new Date();
    await rig.prisma.override.create({
      data: { tenantId, subject: { scope: 'tenant' }, mode: 'exactly', set: { quotas: { requests: { allowance: 500 } } }, reason: 'spec', from: now, createdAt: now, createdBy: 'spec' },
    });
    await rig.tenants.publish([slug]);
    await watching.run();
    expect(await reached()).toEqual([50, 80]);
  });

  // Mutation: forget what one look leaves over.
  it('are found of more meters than one look works out', async () => {
    const slugs = Array.from({ length: 5 }, (_, index) => `${slug}-of-${index}`);
    const node = new SpecNode(rig.redis);
    for (const own of slugs) {
      await rig.tenant(own, tier);
      node.journal.admit(cellOf({ ...nameOf(), tenant: own }), 600);
    }
    await node.journal.flush();
    class Small extends ThresholdWatch {
      protected override readonly mostAtOnce = 2;
    }
    const updates = new LedgerUpdates(rig.prisma, rig.redis, rig.bases, new Small(rig.prisma, rig.ledger, rig.clock));
    const found = (): Promise<number> => rig.prisma.event.count({ where: { tenant: { in: slugs }, type: 'usage.threshold_reached' } });
    await new UsageFold(rig.prisma, rig.redis, rig.metrics, updates, rig.reconciliation).run();
    expect(await found()).toBe(2);
    await updates.follow([]);
    await updates.follow([]);
    expect(await found()).toBe(5);
    expect(await rig.prisma.usageTouch.count({ where: { tenant: { in: slugs } } })).toBe(0);
  });
});

describe('reconciliation', () => {
  class PromptReconciliation extends Reconciliation {
    protected override readonly marginMs = 0;
  }
  /** Flushes the living, folds, and lets the next run judge what this one read. */
  const rounds = async (reconciliation: Reconciliation, living: SpecNode): Promise<void> => {
    await reconciliation.run();
    // More than one look: a sample is believed once the store's clock has gone on by a ms.
    for (let look = 0; look < 4; look += 1) {
      await living.beat();
      await living.journal.flush();
      await fold.run();
      await reconciliation.run();
    }
    await fold.run();
  };

  // Mutations: book nothing; book it twice; leave it with a node that comes back.
  it('brings back what a killed node had not journaled, once, and takes it off again when the node was only away', async () => {
    const [living, dead] = [new SpecNode(rig.redis), new SpecNode(rig.redis)];
    await living.admit(nameOf(), 10);
    await dead.admit(nameOf(), 20);
    await Promise.all([living.journal.flush(), dead.journal.flush(), living.beat()]);
    await fold.run();
    await dead.admit(nameOf(), 7);
    await dead.beat(60_000);
    await rig.prisma.incarnation.update({ where: { id: dead.incarnation }, data: { foldedAt: new Date(Date.now() - 60_000) } });
    const reconciliation = new PromptReconciliation(rig.prisma, rig.redis);
    await rounds(reconciliation, living);
    expect(await item()).toMatchObject({ used: '37', breakdown: { admitted: '30', recovered: '7' } });
    await rounds(new PromptReconciliation(rig.prisma, rig.redis), living);
    expect((await item())?.used).toBe('37');
    await dead.journal.flush();
    await fold.run();
    expect(await item()).toMatchObject({ used: '37', breakdown: { admitted: '37', recovered: '0' } });
  });

  // Mutation: book by the journals of the first look, and what the node brings before the booking stays recovered for good.
  it('books nothing for a node that comes back while its units are being booked', async () => {
    const [living, away] = [new SpecNode(rig.redis), new SpecNode(rig.redis)];
    await living.admit(nameOf(), 10);
    await away.admit(nameOf(), 20);
    await Promise.all([living.journal.flush(), away.journal.flush(), living.beat()]);
    await fold.run();
    await away.admit(nameOf(), 7);
    await away.beat(60_000);
    await rig.prisma.incarnation.update({ where: { id: away.incarnation }, data: { foldedAt: new Date(Date.now() - 60_000) } });
    let bookings = 0;
    class Overtaken extends PromptReconciliation {
      protected override async book(samples: readonly Sample[], at: Date): Promise<void> {
        bookings += 1;
        await away.journal.flush();
        await fold.run();
        await super.book(samples, at);
      }
    }
    await rounds(new Overtaken(rig.prisma, rig.redis), living);
    expect(bookings).toBeGreaterThan(0);
    expect(await item()).toMatchObject({ used: '37', breakdown: { admitted: '37', recovered: '0' } });
  });

  // Mutation: give up every life that no fold has heard of for a while; what it counts next is then taken off what a dead one left.
  it('gives up no node that lives, however long the fold stood still', async () => {
    const [living, dead] = [new SpecNode(rig.redis), new SpecNode(rig.redis)];
    await living.admit(nameOf(), 10);
    await dead.admit(nameOf(), 7);
    await Promise.all([living.journal.flush(), living.beat(), dead.beat(60_000)]);
    await fold.run();
    const reconciliation = new PromptReconciliation(rig.prisma, rig.redis);
    await rounds(reconciliation, living);
    expect(await item()).toMatchObject({ used: '17', breakdown: { recovered: '7' } });
    await rig.prisma.incarnation.update({ where: { id: living.incarnation }, data: { foldedAt: new Date(Date.now() - 60_000) } });
    await living.beat();
    await reconciliation.run();
    await living.admit(nameOf(), 20);
    await living.journal.flush();
    await fold.run();
    expect(await item()).toMatchObject({ used: '37', breakdown: { admitted: '30', recovered: '7' } });
  });

  // Mutation: look only at counters that somebody has journaled for.
  it('finds the counter of a node that died before its first flush', async () => {
    const [living, dead] = [new SpecNode(rig.redis), new SpecNode(rig.redis)];
    await dead.admit(nameOf(), 9);
    await dead.beat(60_000);
    await living.beat();
    await living.journal.flush();
    await fold.run();
    await rounds(new PromptReconciliation(rig.prisma, rig.redis), living);
    expect(await item()).toMatchObject({ used: '9', breakdown: { recovered: '9' } });
  });

  // Mutation: recover whatever the counter has, and a call that was answered without the store is billed twice.
  it('does not recover what may stand in the counter for calls that were answered without it', async () => {
    const [living, dead] = [new SpecNode(rig.redis), new SpecNode(rig.redis)];
    await living.count(nameOf(), 4);
    living.journal.doubt(cellOf(nameOf()), 4);
    living.journal.admitDegraded(cellOf(nameOf()), 4);
    await dead.admit(nameOf(), 3);
    await Promise.all([living.journal.flush(), dead.beat(60_000), living.beat()]);
    await fold.run();
    await rounds(new PromptReconciliation(rig.prisma, rig.redis), living);
    expect(await item()).toMatchObject({ used: '7', breakdown: { settled: '4', recovered: '3' } });
  });

  // Mutation: leave the loss out of the base.
  it('adds to the base what a counter lost, and bills nothing for it', async () => {
    const living = new SpecNode(rig.redis);
    await living.admit(nameOf(), 50);
    await Promise.all([living.journal.flush(), living.beat()]);
    const reconciliation = new PromptReconciliation(rig.prisma, rig.redis);
    const noting = rig.fold();
    await noting.run();
    await rig.redis.decrby(quotaKeys(nameOf()).counter, 12);
    const rows = await rig.prisma.usageJournal.findMany({ where: { tenant: slug } });
    reconciliation.note(rows.map((row) => ({ ...row, degradedHours: new Map() })));
    await rounds(reconciliation, living);
    expect(await enforcedUse(rig.redis, nameOf())).toBe(50);
    expect((await item())?.used).toBe('50');
  });

  // Mutations: read the counter before the journals; count refunds that came later.
  it('finds nothing amiss while calls and refunds go on', async () => {
    const [one, two] = [new SpecNode(rig.redis), new SpecNode(rig.redis)];
    const reconciliation = new PromptReconciliation(rig.prisma, rig.redis);
    await Promise.all([one.beat(), two.beat()]);
    const dead = new SpecNode(rig.redis);
    await dead.beat(60_000);
    const look = async (): Promise<void> => {
      reconciliation.note((await rig.prisma.usageJournal.findMany({ where: { tenant: slug } })).map((row) => ({ ...row, degradedHours: new Map() })));
      await reconciliation.run();
    };
    let admitted = 0;
    for (let round = 0; round < 40; round += 1) {
      const node = round % 2 === 0 ? one : two;
      await node.admit(nameOf(), 3);
      admitted += 3;
      if (round % 3 === 0) {
        await node.refund(nameOf(), 2);
        admitted -= 2;
      }
      if (round % 4 === 0) await Promise.all([one.beat(), two.beat(), one.journal.flush(), two.journal.flush()]);
      if (round % 5 === 0) await fold.run();
      if (round % 7 === 0) await look();
    }
    await Promise.all([one.journal.flush(), two.journal.flush()]);
    await fold.run();
    // The counter is below the journals until they tell of this.
    await one.refund(nameOf(), 5);
    admitted -= 5;
    await look();
    await rounds(reconciliation, one);
    await two.journal.flush();
    await rounds(reconciliation, one);
    expect(await rig.prisma.usageCounter.findMany({ where: { tenant: slug } })).toEqual([]);
    expect(await item()).toMatchObject({ used: String(admitted), breakdown: { recovered: '0' } });
  });
});
