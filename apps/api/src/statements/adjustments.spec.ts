import { afterAll, beforeAll, expect, it } from 'vitest';
import { adjustmentHash } from './statement-hash';
import { statementFrom } from './statement.mapping';
import { AUGUST, StatementsRig } from './specs/statements-rig';

let rig: StatementsRig;
beforeAll(async () => {
  rig = await StatementsRig.start();
  const tier = await rig.tier('billed', 100);
  const waiving = await rig.tier('waiving', null, { degraded: 'waive' });
  for (const slug of ['late', 'records', 'recovered', 'race', 'twice']) await rig.tenant(slug, tier);
  await rig.tenant('waived', waiving);
});
afterAll(async () => {
  await rig?.stop();
});

const adjustments = async (slug: string) =>
  (await rig.statements(slug))[0]?.adjustments.map(({ number, meter, units, kind, reason }) => [number, meter, String(units), kind, reason]);
/** Sweeps of two workers at once. */
const sweep = async (): Promise<number> =>
  (await Promise.all([rig.worker().adjustments.run(), rig.worker().adjustments.run()])).reduce((sum, made) => sum + made, 0);

// Mutations: add what was added already; let two workers add it; take the statement's own hash for every adjustment.
it('adds what a node brings after closing, once, numbered and chained', async () => {
  await rig.use('late', 90, { incarnation: 'came-back' });
  await rig.worker().closing.run();
  expect(await sweep()).toBe(0);
  await rig.use('late', 30, { incarnation: 'came-back' });
  await rig.use('late', 8, { meter: 'extra' });
  expect(await sweep()).toBe(2);
  expect(await sweep()).toBe(0);
  await rig.use('late', 5, { refunded: 1, incarnation: 'came-back' });
  expect(await sweep()).toBe(1);
  expect(await adjustments('late')).toEqual([[1, 'extra', '8', 'journal', null], [2, 'requests', '30', 'journal', null], [3, 'requests', '4', 'journal', null]]);
  const [statement] = await rig.statements('late');
  const hashes = statement?.adjustments.map((one) => adjustmentHash({ ...one, at: one.at.toISOString(), units: String(one.units), kind: 'journal' }));
  expect(statement?.adjustments.map(({ hash }) => hash)).toEqual(hashes);
  expect(statement?.adjustments.map(({ previousHash }) => previousHash)).toEqual([statement?.hash, ...(hashes?.slice(0, 2) ?? [])]);
  if (!statement) return;
  expect(statementFrom(statement).totals).toEqual([
    { meter: 'extra', used: '8', billable: '0', adjusted: '8' }, { meter: 'requests', used: '124', billable: '24', adjusted: '34' },
  ]);
  expect(await rig.verify()).toMatchObject({ isSound: true });
});

// Mutation: settle what came later as the tier would bill it.
it('settles units of an outage that come after closing by the rules of the period', async () => {
  await rig.use('waived', 10, { degraded: 20 });
  await rig.use('late', 1, { degraded: 3 });
  await rig.use('waived', 2, { degraded: 50 });
  await sweep();
  expect(await adjustments('waived')).toEqual([[1, 'requests', '12', 'journal', null]]);
  expect((await adjustments('late'))?.at(-1)).toEqual([4, 'requests', '4', 'journal', null]);
  expect(await rig.verify()).toMatchObject({ isSound: true, problems: [] });
});

const record = async (recordId: string, units: bigint, reason: string | null): Promise<void> => {
  const key = { tenant: 'records', periodId: AUGUST.id, meter: 'requests', part: 1 };
  await rig.prisma.transaction(async (tx) => {
    await tx.usageRecord.create({ data: { ...key, source: 'spec', recordId, units, reason, kind: 'adjustment', at: new Date(AUGUST.endMs - 1), receivedAt: new Date(rig.clock.now()) } });
    await tx.usageExternal.upsert({
      where: { tenant_periodId_meter_part: key }, create: { ...key, adjusted: units }, update: { adjusted: { increment: units } },
    });
  });
};

// Mutations: add records and corrections up; lose the reason.
it('tells records and corrections that come after closing apart, with the reason of these', async () => {
  await record('a', 10n, null);
  await record('b', -4n, 'counted twice');
  await sweep();
  rig.clock.advance(60_000);
  await record('c', -1n, 'a test call');
  await sweep();
  expect(await adjustments('records')).toEqual([
    [1, 'requests', '10', 'external', null], [2, 'requests', '-4', 'correction', 'counted twice'], [3, 'requests', '-1', 'correction', 'a test call'],
  ]);
  expect(await rig.verify('records')).toMatchObject({ isSound: true });
  await rig.tamper(`UPDATE usage_records SET units = units + 1 WHERE record_id = 'a'`);
  expect((await rig.verify('records')).problems).toMatchObject([{ number: 1, problem: 'figures', detail: expect.stringContaining('add up to 6') }]);
  await rig.tamper(`UPDATE usage_records SET units = units - 1 WHERE record_id = 'a'`);
});

it('takes off what was recovered for a node that then came back with its journal', async () => {
  const key = { tenant: 'recovered', periodId: AUGUST.id, meter: 'requests', part: 1, generation: 1 };
  await rig.prisma.usageCounter.create({ data: { ...key, countedAt: new Date(), recovered: 12n } });
  await sweep();
  await rig.prisma.usageCounter.updateMany({ where: { tenant: 'recovered' }, data: { recovered: 2n } });
  await rig.use('recovered', 10);
  await sweep();
  expect(await adjustments('recovered')).toEqual([[1, 'requests', '12', 'recovered', null], [2, 'requests', '10', 'journal', null], [3, 'requests', '-10', 'recovered', null]]);
});

// Mutations: note late usage only where the period is closed already; drop a note that its writer still holds.
it('loses nothing of a fold that began before the closing and commits after it', async () => {
  const tier = await rig.prisma.tier.findFirstOrThrow({ where: { slug: 'billed' } });
  await rig.tenant('racing', tier.id);
  await rig.worker().periods.run();
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  let written: () => void = () => undefined;
  const wrote = new Promise<void>((resolve) => (written = resolve));
  const folding = rig.prisma.transaction(async (tx) => {
    await tx.usageJournal.create({ data: { incarnation: 'slow', tenant: 'racing', meter: 'requests', periodId: AUGUST.id, part: 1, class: 'default', generation: 1, admitted: 7n } });
    written();
    await held;
  });
  await wrote;
  await rig.worker().closing.run();
  expect(await sweep()).toBe(0);
  release();
  await folding;
  expect((await rig.statements('racing'))[0]?.content.lines[0]?.used).toBe('0');
  expect(await sweep()).toBe(1);
  expect(await adjustments('racing')).toEqual([[1, 'requests', '7', 'journal', null]]);
  expect(await rig.verify()).toMatchObject({ isSound: true });
});

// Mutations: leave out a reason that was received before the last correction was added and committed after it; cut the reasons within a character:
// its half is stored as another one than was hashed.
it('keeps the reasons of corrections whole where they are too long together', async () => {
  await record('long', -2n, `${'a'.repeat(489)}b`);
  await record('longer', -1n, `1234567\u{1F600} and more`);
  await sweep();
  const reason = (await adjustments('records'))?.at(-1)?.[4];
  expect(reason).toBe(`${'a'.repeat(489)}b; 1234567`);
  expect(await rig.verify('records')).toMatchObject({ isSound: true, problems: [] });
});

// Mutation: hold the sum of a line against what was used where corrections are more than that.
it('finds nothing amiss in a period that was corrected below nothing', async () => {
  const tier = await rig.prisma.tier.findFirstOrThrow({ where: { slug: 'billed' } });
  await rig.tenant('overcorrected', tier.id);
  await rig.use('overcorrected', 30);
  const key = { tenant: 'overcorrected', periodId: AUGUST.id, meter: 'requests', part: 1 };
  await rig.prisma.usageRecord.create({ data: { ...key, source: 'spec', recordId: 'back', units: -50n, reason: 'all of it was a test', kind: 'correction', at: new Date(AUGUST.endMs - 1), receivedAt: new Date(rig.clock.now()) } });
  await rig.prisma.usageExternal.create({ data: { ...key, corrections: 50n } });
  await rig.worker().closing.run();
  expect((await rig.statements('overcorrected'))[0]?.content.lines[0]).toMatchObject({ used: '0', corrections: '-50', billable: '0' });
  expect(await rig.verify('overcorrected')).toMatchObject({ isSound: true, problems: [] });
});
