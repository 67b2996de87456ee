import { quotaKeys } from '@quotaplane/rate-limit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { markLost } from '../ledger/counter-sql';
import { upsertLastFold } from '../usage/fold-sql';
import { AUGUST, StatementsRig } from './specs/statements-rig';

let rig: StatementsRig;
beforeAll(async () => {
  rig = await StatementsRig.start();
  const tier = await rig.tier('billed', 100);
  for (const slug of ['dead', 'planted', 'draws']) await rig.tenant(slug, tier);
  await rig.prisma.transaction((tx) => upsertLastFold(tx, new Date()));
});
afterAll(async () => {
  await rig?.stop();
});

const counterOf = (tenant: string): string => quotaKeys({ tenant, meter: 'requests', periodId: AUGUST.id, part: 1, generation: 1 }).counter;
const lineOf = async (tenant: string) => (await rig.statements(tenant))[0]?.content.lines[0];

// Mutation: recover whatever a counter has too much, and a figure that somebody planted is billed.
it('bills nothing for a difference while no node was lost, and shows it', async () => {
  await rig.use('planted', 40);
  await rig.redis.incrby(counterOf('planted'), 9);
  await rig.worker().closing.run();
  expect(await lineOf('planted')).toMatchObject({ used: '40', recovered: '0' });
  expect((await rig.statements('planted'))[0]?.content.reconciliation[0]).toMatchObject({ agrees: false, countersDifference: '9' });
});

// Mutations: close without a last comparison; compare before the living have flushed.
it('brings back at the closing what a lost node had not journaled, and the three stores agree again', async () => {
  await rig.prisma.transaction((tx) => rig.tamper('DELETE FROM statements').then(() => tx.usagePeriod.updateMany({ data: { closedAt: null } })));
  const incarnation = await rig.use('dead', 30);
  await rig.redis.incrby(counterOf('dead'), 7);
  await rig.redis.decrby(counterOf('planted'), 9);
  await rig.prisma.transaction((tx) => markLost(tx, [incarnation], new Date()));
  await rig.worker().closing.run();
  expect(await lineOf('dead')).toMatchObject({ used: '37', admitted: '30', recovered: '7' });
  expect((await rig.statements('dead'))[0]?.content.reconciliation[0]).toMatchObject({ agrees: true });
  expect(await rig.verify()).toMatchObject({ isSound: true });
});

// Mutation: take a base for a counter of 0, and every late record of a lost counter looks as if stores differed.
it('says that a counter is gone where only its base is left, and that it is enough where it is', async () => {
  const lost = await rig.use('draws', 30);
  await rig.redis.del(counterOf('draws'));
  await rig.redis.hset(quotaKeys({ tenant: 'draws', meter: 'requests', periodId: AUGUST.id, part: 1, generation: 1 }).base, { plus: '50' });
  await rig.prisma.usageExternal.create({ data: { tenant: 'draws', periodId: AUGUST.id, meter: 'requests', part: 1, external: 50n } });
  await rig.tamper("DELETE FROM statements WHERE tenant = 'draws'");
  await rig.prisma.usagePeriod.updateMany({ where: { tenant: 'draws' }, data: { closedAt: null } });
  await rig.worker().closing.run();
  expect(lost).not.toBe('');
  expect((await rig.statements('draws'))[0]?.content.reconciliation[0]).toMatchObject({ agrees: true, counters: null, explained: [expect.stringContaining('holds no counter')] });
});
