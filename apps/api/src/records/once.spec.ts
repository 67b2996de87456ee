import { RECORD_MEMORY_MS, type UsageRecord } from '@quotaplane/contracts';
import { startPostgres, startRedis, TestClock, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { HistoryRetention } from '../database/history-retention';
import { DAY_MS, NOW_MS, RecordsRig, type RecordsAnswer } from './records-rig';

let postgres: TestPostgres;
let redisServer: TestRedis;
let rig: RecordsRig;
let beside: pg.Client;
beforeAll(async () => {
  [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
  rig = await RecordsRig.over({ postgres, redisServer }, new TestClock());
  rig.api.app.useLogger(false);
  beside = new pg.Client({ connectionString: postgres.url });
  await beside.connect();
});
afterAll(async () => {
  await beside?.end();
  await rig?.stop();
  await Promise.all([postgres?.stop(), redisServer?.stop()]);
});
beforeEach(() => rig.forgetAll());

const list = (count: number, part: (index: number) => Partial<UsageRecord> = () => ({})): UsageRecord[] =>
  Array.from({ length: count }, (_, index) => rig.record({ id: `id-${index}`, ...part(index) }));

/** As a client does it: once more after a 503, until it is answered. */
async function sendUntilAnswered(body: unknown): Promise<RecordsAnswer> {
  for (;;) {
    const answer = await rig.post(body);
    if (answer.status !== 503) return answer;
  }
}

const deadlocks = async (): Promise<bigint> =>
  (await rig.prisma.$queryRaw<{ deadlocks: bigint }[]>`SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`)[0]?.deadlocks ?? 0n;

describe('a (tenant, source, id)', () => {
  // Mutation: leave the tenant out of the primary key of usage_record_ids, or out of the identity within a request.
  it('C037 is counted for each of two tenants that send event id 1 from the same source', async () => {
    const sent = ['acme', 'hobby'].map((tenant) => rig.record({ tenant, source: 'meter-7', id: '1' }));
    expect((await rig.post(sent)).statuses).toEqual(['counted', 'counted']);
    expect((await rig.post([rig.record({ tenant: 'hobby', source: 'meter-7', id: '1' }), rig.record({ tenant: 'hobby', source: 'meter-8', id: '1' })])).statuses).toEqual(['duplicate', 'counted']);
    expect(await rig.sums()).toEqual(['acme 2026-05-01 requests 1: 1 0 0 0', 'hobby 2026-05-01 requests 1: 2 0 0 0']);
  });

  // Mutation: glue tenant, source and id together with a character that they may hold.
  it('is no other one whose parts are cut elsewhere', async () => {
    const sent = [['a|b', 'c'], ['a', 'b|c'], ['a","b', 'c'], ['a', 'b","c']].map(([source, id]) => rig.record({ source: source ?? '', id: id ?? '' }));
    expect((await rig.post(sent)).counts).toEqual([4, 0, 0]);
  });

  it('counts once within one request, and with other content it is the same still', async () => {
    const [one] = list(1);
    expect((await rig.post([one, one, { ...one, units: 50 }])).statuses).toEqual(['counted', 'duplicate', 'duplicate']);
    expect((await rig.post([{ ...one, units: 50, meter: 'other' }])).statuses).toEqual(['duplicate']);
    expect(await rig.sums()).toEqual(['acme 2026-05-01 requests 1: 1 0 0 0']);
  });

  it('counts what is valid behind a bad item of the same id', async () => {
    const [one] = list(1);
    expect((await rig.post([{ ...one, units: 0 }, one])).statuses).toEqual(['refused', 'counted']);
  });

  // Mutation: look for known ids before the insert, in place of ON CONFLICT.
  it('P13 counts once in 50 parallel sends of one batch', async () => {
    const body = list(100);
    const answers = await Promise.all(Array.from({ length: 50 }, () => sendUntilAnswered(body)));
    expect(answers.reduce((sum, { counts: [counted] }) => sum + Number(counted), 0)).toBe(100);
    expect(answers.filter(({ counts: [counted, duplicates, refused] }) => Number(counted) + Number(duplicates) === 100 && refused === 0)).toHaveLength(50);
    expect(await rig.sums()).toEqual(['acme 2026-05-01 requests 1: 100 0 0 0']);
  }, 60_000);

  // Mutation: add the sums of all that was sent, in place of what was written.
  it('P13 counts once in overlapping batches in any order', async () => {
    const before = await deadlocks();
    const months = (index: number): Partial<UsageRecord> => ({ at: new Date(NOW_MS - (index % 2) * 25 * DAY_MS).toISOString(), meter: `meter-${index % 5}` });
    const [acme, hobby] = [list(150, months), list(150, (index) => ({ tenant: 'hobby', ...months(index) }))];
    const bodies = [acme, [...acme].reverse(), [...hobby, ...acme], [...acme, ...hobby].reverse(), hobby, [...hobby].reverse()];
    await Promise.all([...bodies, ...bodies].map((body) => sendUntilAnswered(body)));
    const { _sum } = await rig.prisma.usageExternal.aggregate({ _sum: { external: true, late: true } });
    expect([_sum.external, _sum.late, await rig.prisma.usageRecord.count(), (await deadlocks()) - before]).toEqual([150n, 150n, 300, 0n]);
  }, 60_000);
});

describe('two requests that share records, and do not queue on one audit chain', () => {
  const inOrder = (names: readonly string[], part: (name: string) => Partial<UsageRecord>): UsageRecord[] => names.map((name) => rig.record(part(name)));
  const waiting = () => rig.prisma.$queryRaw`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INSERT INTO usage_%'`;

  // Mutation: leave out the sorting of ids, or of sums; each then holds a row that the other waits for.
  it.each<[string, string, (name: string) => Partial<UsageRecord>]>([
    ['ids', "INSERT INTO usage_record_ids VALUES ('acme', 'billing', 'm', now())", (id) => ({ id })],
    ['sums', "UPDATE usage_external SET late = 0 WHERE meter = 'm'", (meter) => ({ meter })],
  ])('take %s in one order, so that they queue and never deadlock', async (_, hold, part) => {
    const before = await deadlocks();
    await rig.post(inOrder(['x1', 'm', 'x2'], (meter) => ({ meter })));
    await beside.query(`BEGIN; ${hold}`);
    const sent = [rig.post(inOrder(['x1', 'm', 'x2'], part)), rig.post([...inOrder(['x2', 'm', 'x1'], part), rig.record({ tenant: 'hobby' })])];
    await expect.poll(waiting).toHaveLength(2);
    await beside.query('ROLLBACK');
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([200, 200]);
    expect(await deadlocks()).toBe(before);
  }, 30_000);
});

describe('C057 a record that the database refuses', () => {
  const FULL = `CREATE FUNCTION refuse_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'No space left on device' USING ERRCODE = '53100'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON usage_external FOR EACH STATEMENT EXECUTE FUNCTION refuse_once()`;
  const lockSums = 'BEGIN; LOCK TABLE usage_external IN SHARE MODE';

  // Mutation: claim the ids in a transaction of their own, before the write.
  it.each<[string, () => Promise<unknown>, () => Promise<unknown>]>([
    ['for a full disk', () => beside.query(FULL), () => beside.query('DROP TRIGGER refuse ON usage_external; DROP FUNCTION refuse_once')],
    ['for a lock that is held too long', () => beside.query(lockSums), () => beside.query('ROLLBACK')],
    ['for it was killed at work', async () => {
      await beside.query(lockSums);
      void killWaiting();
    }, () => beside.query('ROLLBACK')],
  ])('%s is counted exactly once by the retry', async (_, refuse, relent) => {
    const body = list(3, () => ({ units: 7 }));
    await refuse();
    expect(await rig.post(body)).toMatchObject({ status: 503, body: { code: 'store_unavailable' } });
    await relent();
    expect([await rig.sums(), await rig.prisma.usageRecordId.count()]).toEqual([[], 0]);
    expect((await rig.post(body)).statuses).toEqual(['counted', 'counted', 'counted']);
    expect((await rig.post(body)).statuses).toEqual(['duplicate', 'duplicate', 'duplicate']);
    expect(await rig.sums()).toEqual(['acme 2026-05-01 requests 1: 21 0 0 0']);
  }, 30_000);

  async function killWaiting(): Promise<void> {
    await expect.poll(async () => (await rig.prisma.$queryRaw<{ killed: boolean }[]>`
      SELECT pg_terminate_backend(pid) AS killed FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INSERT INTO usage_external%'`).length).toBe(1);
  }
});

describe('the memory of ids', () => {
  // Mutation: remember ids by the raw rows alone.
  it('C059 outlives the raw rows: a replay after their partition was dropped changes no total', async () => {
    const body = list(5, () => ({ units: 3 }));
    await rig.prisma.$executeRaw`SELECT create_usage_partitions('2026-05-01', 1)`;
    await rig.post(body);
    await rig.prisma.$executeRaw`DROP TABLE usage_records_2026_05`;
    expect(await rig.prisma.usageRecord.count()).toBe(0);
    rig.clock.set(NOW_MS + 30 * DAY_MS);
    expect((await rig.post(body)).statuses).toEqual(Array(5).fill('duplicate'));
    expect(await rig.sums()).toEqual(['acme 2026-05-01 requests 1: 15 0 0 0']);
  });

  // Mutation: sweep what is 34 days old.
  it('P13 lasts 35 days, and no record that is old enough to be forgotten is taken', async () => {
    const sweep = () => new HistoryRetention(rig.prisma, rig.clock).sweep();
    const [first] = list(1);
    await rig.post([first]);
    for (const [afterMs, status] of [[34 * DAY_MS, 'duplicate'], [RECORD_MEMORY_MS, 'duplicate'], [RECORD_MEMORY_MS + 1, 'counted']] as const) {
      rig.clock.set(NOW_MS + afterMs);
      await sweep();
      expect((await rig.post([first])).items[0]).toMatchObject({ status: 'refused', pointer: '/0/at' });
      expect([afterMs, (await rig.post([{ ...first, at: new Date(rig.clock.now()).toISOString() }])).statuses]).toEqual([afterMs, [status]]);
    }
  });

  // Mutation: insert raw rows without ON CONFLICT; the whole request fails for the one.
  it('is longer where the raw row of the same period still stands', async () => {
    const late = new Date(Date.UTC(2026, 4, 5)).toISOString();
    rig.clock.set(Date.UTC(2026, 4, 1, 1));
    await rig.post([rig.record({ id: 'again' })]);
    rig.clock.set(Date.UTC(2026, 5, 6));
    await new HistoryRetention(rig.prisma, rig.clock).sweep();
    expect((await rig.post([rig.record({ id: 'again', at: late }), rig.record({ id: 'other', at: late })])).statuses).toEqual(['duplicate', 'counted']);
    expect(await rig.sums()).toEqual(['acme 2026-05-01 requests 1: 1 1 0 0']);
  });
});
