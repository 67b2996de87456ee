import { statementSchema } from '@quotaplane/contracts';
import { quotaKeys } from '@quotaplane/rate-limit';
import { journalField } from '@quotaplane/usage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NO_HASH, statementHash } from './statement-hash';
import { statementFrom } from './statement.mapping';
import { AUGUST, SEPTEMBER, StatementsRig } from './specs/statements-rig';

let rig: StatementsRig;
let tier: string;
beforeAll(async () => {
  rig = await StatementsRig.start();
  tier = await rig.tier('billed', 100);
});
afterAll(async () => {
  await rig?.stop();
});

describe('a period that has ended', () => {
  // Mutations: close N+1 beside N; take any hash for the one before; leave out the periods in which nothing was used.
  it('is closed once by two workers, in order, each statement naming the hash of the one before', async () => {
    for (const slug of ['acme', 'idle']) await rig.tenant(slug, tier);
    await rig.use('acme', 130, { refunded: 5, degraded: 7 });
    const [one, two] = [rig.worker(), rig.worker()];
    const counts = await Promise.all([one.closing.run(), two.closing.run()]);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(4);
    expect(await one.closing.run()).toBe(0);
    for (const slug of ['acme', 'idle']) {
      const statements = await rig.statements(slug);
      expect(statements.map(({ number, periodId }) => [number, periodId])).toEqual([[1, AUGUST.id], [2, SEPTEMBER.id]]);
      expect(statements.map(({ previousHash }) => previousHash)).toEqual([NO_HASH, statements[0]?.hash]);
      for (const { content, hash } of statements) expect(statementHash(content)).toBe(hash);
    }
    const [august, september] = (await rig.statements('acme')).map((row) => statementSchema.parse(statementFrom(row)));
    expect(august?.lines).toMatchObject([{
      meter: 'requests', admitted: '130', refunded: '5', degraded: '7', settled: '7', used: '132', allowance: '100', overage: '32', billable: '32',
      parts: [{ part: 1, tier: 'billed', used: '132', billable: '32' }],
    }]);
    expect(august?.closedBy).toBe('worker');
    expect(september?.lines).toMatchObject([{ meter: 'requests', used: '0', billable: '0' }]);
    const events = await rig.prisma.event.findMany({ where: { type: 'usage.period_closed' } });
    expect(events.map(({ dedupeKey }) => dedupeKey).sort()).toEqual(['acme', 'idle'].flatMap((slug) => [AUGUST, SEPTEMBER].map(({ id }) => `closed|${slug}|${id}`)));
    expect(await rig.verify()).toMatchObject({ isSound: true, statements: 4, tenants: 2 });
  });

  // Mutation: compare with the end instead of the end and the grace.
  it('waits for its grace, and not an hour longer', async () => {
    await rig.tenant('graced', tier);
    const before = rig.clock.now();
    rig.clock.set(SEPTEMBER.endMs + 24 * 3_600_000 - 1);
    await rig.worker().closing.run();
    expect((await rig.statements('graced')).length).toBe(1);
    rig.clock.set(SEPTEMBER.endMs + 24 * 3_600_000);
    await rig.worker().closing.run();
    expect((await rig.statements('graced')).length).toBe(2);
    rig.clock.set(before);
    await rig.tenant('hasty', tier);
    rig.clock.set(SEPTEMBER.endMs);
    expect(await rig.worker(0).closing.run()).toBe(2);
    rig.clock.set(before);
  });

  // Mutation: write the statements outside the transaction of the claim.
  it('leaves nothing behind where a closing breaks off, and is closed by the next', async () => {
    await rig.tenant('broken', tier);
    await rig.worker().periods.run();
    await rig.prisma.$executeRaw`CREATE FUNCTION break_off() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'broken off'; END $$`;
    await rig.prisma.$executeRaw`CREATE TRIGGER break_off BEFORE INSERT ON events FOR EACH STATEMENT EXECUTE FUNCTION break_off()`;
    await expect(rig.worker().closing.run()).rejects.toThrow(/broken off/);
    expect(await rig.statements('broken')).toEqual([]);
    await rig.prisma.$executeRaw`DROP TRIGGER break_off ON events`;
    expect(await rig.worker().closing.run()).toBe(2);
  });

  // Mutation: let the batch of a tenant that cannot be closed fail as a whole, again and again.
  it('is closed also where the figures of another tenant cannot be worked out', async () => {
    for (const slug of ['hurt', 'well']) await rig.tenant(slug, tier);
    await rig.prisma.$executeRaw`CREATE FUNCTION refuse_hurt() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.tenant = 'hurt' THEN RAISE EXCEPTION 'no figures'; END IF; RETURN NEW; END $$`;
    await rig.prisma.$executeRaw`CREATE TRIGGER refuse_hurt BEFORE INSERT ON statements FOR EACH ROW EXECUTE FUNCTION refuse_hurt()`;
    await expect(rig.worker().closing.run()).rejects.toThrow(/1 tenants cannot be closed, hurt first: [^]*no figures/);
    expect([(await rig.statements('hurt')).length, (await rig.statements('well')).length]).toEqual([0, 2]);
    await rig.prisma.$executeRaw`DROP TRIGGER refuse_hurt ON statements`;
    expect(await rig.worker().closing.run()).toBe(2);
  });

  // Mutation: sum as numbers.
  it('P14 is exact to 2^53-1 in a line and beyond in a sum', async () => {
    await rig.tenant('vast', tier);
    await rig.use('vast', Number.MAX_SAFE_INTEGER, { incarnation: 'vast-1' });
    for (const incarnation of ['vast-2', 'vast-3']) await rig.use('vast', Number.MAX_SAFE_INTEGER, { incarnation });
    await rig.worker().closing.run();
    const [august] = (await rig.statements('vast')).map(statementFrom);
    const sum = String(3n * BigInt(Number.MAX_SAFE_INTEGER));
    expect(august?.lines[0]).toMatchObject({ admitted: sum, used: sum, overage: String(3n * BigInt(Number.MAX_SAFE_INTEGER) - 100n) });
    expect(august?.reconciliation[0]).toMatchObject({ counters: sum, journals: sum, ledger: sum, agrees: true, explained: [] });
  });
});

describe('the reconciliation', () => {
  const reconciled = async (slug: string) => (await rig.statements(slug))[0]?.content.reconciliation[0];
  const quota = (tenant: string) => quotaKeys({ tenant, meter: 'requests', periodId: AUGUST.id, part: 1, generation: 1 });

  // Mutations: read one store's figure from another; compare the base's other lines with the journals.
  it('shows a difference planted in any one of the three stores, at that store', async () => {
    const field = journalField({ tenant: 'in-journals', meter: 'requests', periodId: AUGUST.id, part: 1, class: 'default', generation: 1 }, 'admitted');
    for (const slug of ['in-none', 'in-counters', 'in-base', 'in-journals', 'in-postgres']) await rig.tenant(slug, tier);
    await rig.use('in-none', 50, { refunded: 10 });
    for (const slug of ['in-counters', 'in-base', 'in-postgres']) await rig.use(slug, 50, { refunded: 10 });
    const incarnation = await rig.use('in-journals', 50, { refunded: 10 });
    await rig.redis.incrby(quota('in-counters').counter, 3);
    await rig.redis.hset(quota('in-base').base, { plus: 0, minus: 4 });
    await rig.redis.hincrby(rig.journalKey(incarnation), field, 5);
    await rig.tamper(`UPDATE usage_journals SET admitted = admitted - 6 WHERE tenant = 'in-postgres'`);
    await rig.worker().closing.run();
    expect(await reconciled('in-none')).toEqual({
      meter: 'requests', counters: '40', journals: '40', ledger: '40', countersDifference: '0', journalsDifference: '0', agrees: true, explained: [],
    });
    const differing = { agrees: false, explained: [expect.stringMatching(/./)] };
    expect(await reconciled('in-counters')).toMatchObject({ counters: '43', journals: '40', ledger: '40', countersDifference: '3', journalsDifference: '0', ...differing });
    expect(await reconciled('in-base')).toMatchObject({ counters: '36', journals: '40', ledger: '40', countersDifference: '-4', journalsDifference: '0', ...differing });
    expect(await reconciled('in-journals')).toMatchObject({ counters: '40', journals: '45', ledger: '40', countersDifference: '0', journalsDifference: '5', ...differing });
    expect(await reconciled('in-postgres')).toMatchObject({ counters: '40', journals: '40', ledger: '34', countersDifference: '6', journalsDifference: '6', agrees: false });
  });

  // Mutation: leave external units or corrections in the counter's figure.
  it('takes off the counter what no guard has counted: records, settled and recovered units', async () => {
    await rig.tenant('mixed', tier);
    await rig.use('mixed', 50, { refunded: 10, degraded: 20 });
    const key = { tenant: 'mixed', periodId: AUGUST.id, meter: 'requests', part: 1 };
    await rig.prisma.usageExternal.create({ data: { ...key, external: 30n, late: 4n, corrections: 6n } });
    await rig.prisma.usageCounter.create({ data: { ...key, generation: 1, countedAt: new Date(), recovered: 8n } });
    await rig.redis.incrby(quota('mixed').counter, 8);
    await rig.redis.hset(quota('mixed').base, { plus: 30 + 4 + 20, minus: 6 });
    await rig.worker().closing.run();
    const [statement] = await rig.statements('mixed');
    expect(statement?.content.lines[0]).toMatchObject({ external: '30', late: '4', corrections: '-6', recovered: '8', settled: '20', used: '96' });
    expect(statement?.content.reconciliation[0]).toMatchObject({ counters: '40', journals: '40', ledger: '40', agrees: true });
  });

  it('gives nothing for a store that has lost its data, says so, and closes', async () => {
    await rig.tenant('lost', tier);
    const incarnation = await rig.use('lost', 50);
    await rig.redis.del(quota('lost').counter, rig.journalKey(incarnation));
    await rig.worker().closing.run();
    expect(await reconciled('lost')).toMatchObject({ counters: null, journals: null, ledger: '50', agrees: true, explained: [expect.stringContaining('no counter'), expect.stringContaining('no journal')] });
  });

  // Mutation: let an error of Redis end the closing.
  it('does not wait for a Redis that is away', async () => {
    await rig.tenant('alone', tier);
    await rig.use('alone', 50);
    await rig.redisServer.kill('SIGKILL');
    await expect.poll(() => rig.redis.status).not.toBe('ready');
    await rig.worker().closing.run();
    expect(await reconciled('alone')).toMatchObject({ counters: null, journals: null, ledger: '50', explained: ['Redis could not be read when the period was closed'] });
    await rig.redisServer.restart();
    await expect.poll(() => rig.redis.ping().catch(() => 'away')).toBe('PONG');
  });
});
