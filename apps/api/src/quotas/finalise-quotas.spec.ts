import { afterAll, beforeAll, expect, it } from 'vitest';
import { readPolicyRows } from '../outbox/policy-rows';
import { tenantPeriodAt } from '../tenants/tenant-calendar';
import { finaliseQuotas } from './finalise-quotas';
import { lockDueTenants, upsertDraws } from './quota-sql';
import { QuotaRig } from './specs/quota-rig';

const MARCH = Date.UTC(2027, 2, 1);
const APRIL = Date.UTC(2027, 3, 1);

let rig: QuotaRig;
beforeAll(async () => {
  rig = await QuotaRig.start(MARCH);
});
afterAll(() => rig?.stop());

// Mutation: write the rows of a closing before its tenants are locked: it and a sweep then wait for each other, and Postgres ends one of them.
it('waits for a sweep that works at the same tenant, and neither fails', async () => {
  await rig.tier('base', { allowance: 100 });
  await rig.tenant('both', 'base');
  const { body } = await rig.topUp('both', { units: 50 });
  await rig.relay();
  await rig.call('both', 120);
  rig.clock.set(APRIL + 5_000);
  const now = new Date(rig.clock.now());
  const rows = await readPolicyRows(rig.prisma, ['both'], { overrides: 'all', now });
  const [tenant] = rows;
  if (!tenant) return expect.unreachable();
  const period = tenantPeriodAt(tenant, MARCH);
  const figures = await rig.ledger.figuresOf(rows, new Map([['both', [period]]]), { instant: now });
  let closing: Promise<string[]> | undefined;
  await rig.prisma.transaction(async (sweep) => {
    expect(await lockDueTenants(sweep, ['both'], now)).toEqual(['both']);
    closing = rig.prisma.transaction((tx) => finaliseQuotas(tx, figures, now));
    closing.catch(() => undefined);
    await expect.poll(async () => (await rig.prisma.$queryRaw<unknown[]>`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'`).length).toBe(1);
    await upsertDraws(sweep, [{ topUpId: String(body['id']), periodId: period.id, part: 1, units: 7, isFinal: false }]);
  });
  expect(await closing).toEqual(['both']);
  expect(await rig.prisma.topUpDraw.findMany({ where: { topUpId: String(body['id']) } })).toMatchObject([{ units: 20n, isFinal: true }]);
});
