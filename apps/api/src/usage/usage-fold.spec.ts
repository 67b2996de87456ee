import { redisKeys, usageItem, type UsageItem } from '@quotaplane/contracts';
import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { forgetEndedJournals, Journal, periodAt, TrafficLog, type JournalBatch, type JournalCell } from '@quotaplane/usage';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { SYSTEM_CALLER } from '../http/caller';
import { OutboxRig } from '../outbox/outbox-rig';
import { SeriesService } from './series.service';
import { TrafficFold } from './traffic-fold';
import { UsageFold } from './usage-fold';
import { UsageLedger } from './usage-ledger';
import { exportBody, UsageService } from './usage.service';

let postgres: TestPostgres;
let redisServer: TestRedis;
let rig: OutboxRig;
let fold: UsageFold;
let usage: UsageService;
let periodId: string;
beforeAll(async () => {
  [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
  rig = await OutboxRig.over({ postgres, redisServer });
  fold = rig.fold();
  usage = new UsageService(rig.prisma, new UsageLedger(rig.prisma, rig.clock));
  periodId = periodAt({ timezone: 'UTC', anchorDay: 1, nowMs: Date.now() }).id;
  const tier = await rig.tier('free', { quotas: [{ meter: 'requests', allowance: 100, overage: 'bill', alertAt: [] }], degraded: 'bill' });
  for (const slug of ['acme', 'hobby', 'zero']) await rig.tenant(slug, tier);
});
afterAll(async () => {
  await rig?.stop();
  await Promise.all([postgres?.stop(), redisServer?.stop()]);
});

let lives = 0;
const node = (): Journal => new Journal({ redis: rig.redis, incarnation: `node-${++lives}`, service: 'echo', storeNow: () => Date.now() });
const cell = (tenant: string, part: Partial<JournalCell> = {}): JournalCell => ({ tenant, meter: 'requests', periodId, part: 1, class: 'default', generation: 1, ...part });
const listed = async (query: { tenant?: string; period?: string; limit?: number; cursor?: string } = {}) =>
  usage.list(SYSTEM_CALLER, { query: { period: 'current', limit: 50, ...query }, params: undefined, body: undefined, ifVersion: undefined });
const itemOf = async (tenant: string): Promise<UsageItem | undefined> => (await listed({ tenant })).items[0] as UsageItem | undefined;

it('counts once what is folded twice, by two workers at once, and what is written again after a lost acknowledgement', async () => {
  const journal = node();
  const own = cell('acme');
  journal.admit(own, 30);
  journal.refund(own, 5);
  journal.admit(cell('acme', { class: 'search' }), 10);
  await journal.flush();

  class DeafFold extends UsageFold {
    protected override acknowledge(_batches: readonly JournalBatch[]): Promise<void> {
      return Promise.resolve();
    }
  }
  await rig.fold(DeafFold).run();
  expect(await itemOf('acme')).toMatchObject({ used: '35', breakdown: { admitted: '40', refunded: '5', degraded: '0', settled: '0' } });
  journal.admit(own, 7);
  await journal.flush();
  const second = rig.fold();
  await Promise.all([fold.run(), second.run(), rig.fold(DeafFold).run()]);
  await Promise.all([fold.run(), second.run()]);
  expect((await itemOf('acme'))?.used).toBe('42');
  await journal.close();
});

it('adds up incarnations, classes and generations, and settles degraded units by the tier', async () => {
  const [one, two] = [node(), node()];
  one.admit(cell('hobby'), 60);
  two.admit(cell('hobby', { generation: 2 }), 50);
  two.admitDegraded(cell('hobby', { class: 'search' }), 7);
  await Promise.all([one.flush(), two.flush()]);
  await fold.run();
  expect(await itemOf('hobby')).toMatchObject({ used: '117', allowance: '100', overage: '17', billable: '17', status: 'open', period: { id: periodId, timezone: 'UTC' } });
});

// Mutation: fold whatever digits a journal holds, and Postgres refuses the whole fold: no tenant is billed any more.
it('goes on for all others where one journal holds what Postgres cannot keep', async () => {
  const [broken, journal] = [node(), node()];
  const before = BigInt((await itemOf('hobby'))?.used ?? 0);
  for (let call = 0; call < 1_200; call += 1) broken.admit(cell('acme', { class: 'huge' }), Number.MAX_SAFE_INTEGER);
  await broken.flush();
  await rig.redis.hset(redisKeys.journal('garbage'), { '#seq': 'x', '#dirty': '{' });
  await rig.redis.sadd(redisKeys.journals, 'garbage');
  journal.admit(cell('hobby', { class: 'beside' }), 4);
  await journal.flush();
  await fold.run();
  expect(BigInt((await itemOf('hobby'))?.used ?? 0) - before).toBe(4n);
  await rig.prisma.usageJournal.deleteMany({ where: { class: { in: ['huge', 'beside'] } } });
});

it('keeps what was folded when Redis loses the journals, and never counts it again when the node writes it anew', async () => {
  const journal = node();
  journal.admit(cell('acme', { class: 'lost' }), 11);
  await journal.flush();
  await fold.run();
  const before = (await itemOf('acme'))?.used;
  await rig.redis.flushall();
  journal.admit(cell('acme', { class: 'lost' }), 1);
  await journal.flush();
  await fold.run();
  expect(Number((await itemOf('acme'))?.used)).toBe(Number(before) + 1);
});

it('ends a journal that is closed and folded, and no other, and keeps it for the reconciliation', async () => {
  const [open, closed] = [node(), node()];
  open.admit(cell('acme', { class: 'kept' }), 1);
  closed.admit(cell('acme', { class: 'kept' }), 2);
  await open.flush();
  await closed.close();
  await fold.run();
  expect(await rig.redis.exists(redisKeys.journal(`node-${lives - 1}`))).toBe(1);
  expect(await rig.redis.pttl(redisKeys.journal(`node-${lives}`))).toBeGreaterThan(0);
  expect([await rig.redis.sismember(redisKeys.journals, `node-${lives}`), await rig.redis.sismember(redisKeys.journalsEnded, `node-${lives}`)]).toEqual([0, 1]);
  await rig.redis.del(redisKeys.journal(`node-${lives}`));
  expect(await forgetEndedJournals(rig.redis)).toBeGreaterThan(0);
  expect(await rig.redis.sismember(redisKeys.journalsEnded, `node-${lives}`)).toBe(0);
  expect((await rig.prisma.incarnation.findUniqueOrThrow({ where: { id: `node-${lives}` } })).closedAt).not.toBeNull();
});

it('lists every tenant and meter that has a quota, also with nothing used, and says how fresh it is', async () => {
  await fold.run();
  const { items } = await listed();
  expect(items.map(({ tenant, meter }) => `${tenant} ${meter}`)).toEqual(['acme requests', 'hobby requests', 'zero requests']);
  for (const item of items) {
    usageItem.parse(item);
    expect(Date.now() - Date.parse(item.asOf)).toBeLessThan(5_000);
  }
  expect(items[2]?.used).toBe('0');
});

it('remembers each period it has counted in, with the bounds it had', async () => {
  const [row] = await rig.prisma.usagePeriod.findMany({ where: { tenant: 'acme' } });
  const { startMs, endMs } = periodAt({ timezone: 'UTC', anchorDay: 1, nowMs: Date.now() });
  expect([row?.periodId, row?.startAt.getTime(), row?.endAt.getTime(), row?.timezone]).toEqual([periodId, startMs, endMs, 'UTC']);
  expect((await listed({ period: periodId.slice(0, 7) })).items.length).toBe(3);
  expect((await listed({ period: '2020-01' })).items).toEqual([]);
});

it('pages through all items without a gap or a repeat', async () => {
  const seen: string[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await listed({ limit: 1, ...(cursor ? { cursor } : {}) });
    seen.push(...page.items.map(({ tenant }) => tenant));
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  expect(seen).toEqual(['acme', 'hobby', 'zero']);
});

it('streams the same items as CSV and NDJSON', async () => {
  const read = async (format: 'csv' | 'ndjson'): Promise<string> => {
    let text = '';
    for await (const chunk of exportBody(await usage.stream(SYSTEM_CALLER, { period: 'current', format }), format)) text += String(chunk);
    return text;
  };
  const lines = (await read('csv')).trim().split('\n');
  expect(lines[0]).toBe('tenant,meter,period,start,end,timezone,status,used,allowance,overage,billable,carried,granted,remaining,admitted,refunded,degraded,settled,external,late,recovered,corrections,asOf,cursor');
  expect(lines[2]).toMatch(new RegExp(`^hobby,requests,${periodId},.*,UTC,open,117,100,17,17,0,0,0,110,0,7,7,0,0,0,0,`));
  expect((await read('ndjson')).trim().split('\n').map((line) => usageItem.extend({ cursor: z.string() }).parse(JSON.parse(line)).tenant)).toEqual(['acme', 'hobby', 'zero']);
});

it('draws a series from folded minutes and the newest ones still in Redis', async () => {
  const log = new TrafficLog({ redis: rig.redis, storeNow: () => Date.now() });
  const ago = new TrafficLog({ redis: rig.redis, storeNow: () => Date.now() - 1_800_000 });
  ago.allowed('acme', 10);
  ago.denied('acme', 'per-minute');
  await ago.flush();
  const traffic = new TrafficFold(rig.prisma, rig.redis);
  await Promise.all([traffic.run(), new TrafficFold(rig.prisma, rig.redis).run()]);
  log.allowed('acme', 3);
  await log.flush();
  const series = new SeriesService(rig.prisma, rig.redis, rig.clock);
  const { points } = await series.get({ params: { slug: 'acme' }, query: { step: 3_600, from: new Date(Date.now() - 7_200_000).toISOString() }, body: undefined, ifVersion: undefined });
  const sum = (of: (point: (typeof points)[number]) => number): number => points.reduce((total, point) => total + of(point), 0);
  expect([sum(({ allowed }) => allowed), sum(({ units }) => units), sum(({ denied }) => denied)]).toEqual([2, 13, 1]);
  await rig.redis.flushall();
  await traffic.run();
  expect((await rig.prisma.trafficMinute.findMany({ where: { tenant: 'acme' } })).some(({ denied, deniedByLimit }) => denied === 1n && JSON.stringify(deniedByLimit) === '{"per-minute":1}')).toBe(true);
});
