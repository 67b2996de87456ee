import { afterAll, beforeAll, expect, it } from 'vitest';
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

const idsOf = async (tenant: string): Promise<string[]> =>
  (await rig.prisma.usagePeriod.findMany({ where: { tenant }, orderBy: { startAt: 'asc' } })).map(({ periodId }) => periodId);

// Mutations: look for tenants without any row only; take the running period's row for all of them.
it('gives each tenant a row for every period up to the running one, fills holes, and makes nothing twice', async () => {
  for (const slug of ['fresh', 'holed']) await rig.tenant(slug, tier);
  const october = { startAt: new Date(SEPTEMBER.endMs), endAt: new Date(Date.UTC(2026, 10, 1)), timezone: 'UTC' };
  await rig.prisma.usagePeriod.createMany({ data: [
    { tenant: 'holed', periodId: AUGUST.id, startAt: new Date(AUGUST.startMs), endAt: new Date(AUGUST.endMs), timezone: 'UTC' }, { tenant: 'holed', periodId: '2026-10-01', ...october },
  ] });
  const runs = await Promise.all([rig.worker().periods.run(), rig.worker().periods.run()]);
  expect(runs.reduce((sum, made) => sum + made, 0)).toBe(4);
  expect(await rig.worker().periods.run()).toBe(0);
  for (const slug of ['fresh', 'holed']) expect(await idsOf(slug)).toEqual([AUGUST.id, SEPTEMBER.id, '2026-10-01']);
  rig.clock.set(Date.UTC(2026, 10, 1));
  expect(await rig.worker().periods.run()).toBe(2);
  expect((await idsOf('fresh')).at(-1)).toBe('2026-11-01');
});

it('ends with the period in which a tenant was deleted, and leaves a row that was counted in as it was cut', async () => {
  await rig.tenant('gone', tier);
  await rig.prisma.tenant.update({ where: { slug: 'gone' }, data: { deletedAt: new Date(SEPTEMBER.startMs + 1) } });
  await rig.tenant('moved', tier);
  await rig.prisma.usagePeriod.create({ data: { tenant: 'moved', periodId: '2026-08-15', startAt: new Date(Date.UTC(2026, 7, 15)), endAt: new Date(SEPTEMBER.startMs), timezone: 'UTC' } });
  await rig.worker().periods.run();
  expect(await idsOf('gone')).toEqual([AUGUST.id, SEPTEMBER.id]);
  expect((await idsOf('moved')).slice(0, 2)).toEqual(['2026-08-15', SEPTEMBER.id]);
});

// Mutation: take the anchor day of now for what was before the change.
it('follows a change of calendar, the transition marked as one', async () => {
  await rig.tenant('changed', tier);
  const { id } = await rig.prisma.tenant.update({ where: { slug: 'changed' }, data: { anchorDay: 15 } });
  await rig.prisma.tenantCalendar.createMany({ data: [
    { tenantId: id, fromAt: new Date(0), timezone: 'UTC', anchorDay: 1, createdBy: 'spec' }, { tenantId: id, fromAt: new Date(SEPTEMBER.startMs), timezone: 'UTC', anchorDay: 15, createdBy: 'spec' },
  ] });
  await rig.worker().periods.run();
  const rows = await rig.prisma.usagePeriod.findMany({ where: { tenant: 'changed' }, orderBy: { startAt: 'asc' } });
  expect(rows.map(({ periodId, isTransition }) => [periodId, isTransition])).toEqual([[AUGUST.id, false], [SEPTEMBER.id, true], ['2026-09-15', false], ['2026-10-15', false]]);
});

it('has the partitions of the months ahead', async () => {
  const rows = await rig.prisma.$queryRaw<{ name: string }[]>`SELECT relname AS name FROM pg_class WHERE relname LIKE 'usage_records_2027_0%' AND relkind = 'r'`;
  expect(rows.map(({ name }) => name)).toContain('usage_records_2027_02');
});
