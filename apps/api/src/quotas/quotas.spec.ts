import { afterAll, beforeAll, expect, it } from 'vitest';
import { readPolicyRows } from '../outbox/policy-rows';
import { finaliseQuotas } from './finalise-quotas';
import { QuotaRig } from './specs/quota-rig';

const DAY_MS = 86_400_000;
const MARCH = Date.UTC(2027, 2, 1);
const APRIL = Date.UTC(2027, 3, 1);
const MAY = Date.UTC(2027, 4, 1);

let rig: QuotaRig;
beforeAll(async () => {
  rig = await QuotaRig.start(MARCH + 10 * DAY_MS);
  await rig.tier('base', { allowance: 100 });
  await rig.tier('carrying', { allowance: 100, overage: 'bill', carry: { cap: 45 } });
});
afterAll(() => rig?.stop());

/** After an instant, when the sweep has had its time. */
const settledAfter = async (atMs: number): Promise<number> => {
  rig.clock.set(atMs + 4_000);
  return rig.sweep().run();
};

// Mutation: carry from the whole allowance without taking off what was used; let overage go over; count grants as unused allowance.
it('C088 gives 100 in the period after one with overage, with carry on and off, and carries what was unused up to the cap', async () => {
  rig.clock.set(MARCH + 10 * DAY_MS);
  await rig.tier('plain', { allowance: 100, overage: 'bill' });
  await rig.tenant('c088-off', 'plain');
  for (const slug of ['c088-on', 'c088-unused', 'c088-capped']) await rig.tenant(slug, 'carrying');
  for (const slug of ['c088-off', 'c088-on']) expect(await rig.call(slug, 130)).toBe(0);
  await rig.call('c088-unused', 60);
  await rig.call('c088-capped', 10);
  // Until the period that ended is worked out, nothing is carried.
  rig.clock.set(APRIL);
  expect((await rig.quota('c088-unused'))?.allowance).toBe(100);
  expect(await settledAfter(APRIL)).toBe(3);
  expect((await rig.quota('c088-off'))?.allowance).toBe(100);
  expect((await rig.quota('c088-on'))?.allowance).toBe(100);
  expect(await rig.quota('c088-unused')).toMatchObject({ allowance: 140, extras: [{ units: 40, source: 'carry:2027-03-01' }] });
  expect((await rig.quota('c088-capped'))?.allowance).toBe(145);
  expect([await rig.call('c088-off', 100), await rig.call('c088-on', 100), await rig.call('c088-unused', 140)]).toEqual([0, 0, 0]);
  expect(await rig.sweep().run()).toBe(0);
  // Carried units are the allowance's own: what is left of both goes on, up to the cap.
  await rig.call('c088-capped', 130);
  await settledAfter(MAY);
  expect((await rig.quota('c088-capped'))?.allowance).toBe(115);
  expect((await rig.quota('c088-unused'))?.allowance).toBe(100);
}, 60_000);

// Mutation: leave a grant that starts in a coming period out of it; add it once more when its period rolls.
it('C056 has 100 available of a top-up of 100 that is dated exactly at the period start', async () => {
  rig.clock.set(MARCH + 10 * DAY_MS);
  await rig.tier('none', { allowance: 0 });
  await rig.tenant('c056', 'none');
  expect(await rig.topUp('c056', { units: 100, from: new Date(APRIL).toISOString() })).toMatchObject({ status: 201, body: { state: 'scheduled', remaining: 100 } });
  await rig.relay();
  rig.clock.set(APRIL - 1);
  expect(await rig.call('c056', 1)).toBeNull();
  rig.clock.set(APRIL);
  expect(await rig.call('c056', 60)).toBe(40);
  await settledAfter(APRIL);
  await settledAfter(APRIL + 5_000);
  expect(await rig.call('c056', 40)).toBe(0);
  expect(await rig.call('c056', 1)).toBeNull();
  const { body } = await rig.api.call('GET', '/v1/tenants/c056/top-ups');
  expect(body.items).toMatchObject([{ drawn: 100, remaining: 0, state: 'spent' }]);
  await settledAfter(MAY);
  expect((await rig.quota('c056'))?.allowance).toBe(0);
}, 60_000);

// Mutation: give what is left of a grant before its draws are known; spend the later-ending one first.
it('takes what is left of top-ups along into the next period, soonest-ending spent first, whoever settles it and however often', async () => {
  rig.clock.set(MARCH + 10 * DAY_MS);
  await rig.tenant('grants', 'base');
  const long = await rig.topUp('grants', { units: 50 });
  rig.clock.advance(1_000);
  const short = await rig.topUp('grants', { units: 30, expiresAt: new Date(APRIL + 5 * DAY_MS).toISOString() });
  await rig.relay();
  expect(await rig.call('grants', 145)).toBe(35);
  const drawn = async (): Promise<unknown> => (await rig.api.call('GET', '/v1/tenants/grants/top-ups')).body.items?.map((item) => [item.id, item['drawn'], item['state']]);
  expect(await drawn()).toEqual([[short.body.id, 30, 'spent'], [long.body.id, 15, 'active']]);
  rig.clock.set(APRIL + 1_000);
  expect((await rig.quota('grants'))?.allowance).toBe(100);
  rig.clock.set(APRIL + 4_000);
  await Promise.all([rig.sweep().run(), rig.sweep().run()]);
  await rig.prisma.tenant.updateMany({ where: { slug: 'grants' }, data: { quotaDueAt: new Date(APRIL) } });
  expect(await rig.sweep().run()).toBe(1);
  expect((await rig.quota('grants'))?.allowance).toBe(135);
  expect(await rig.prisma.topUpDraw.findMany({ where: { topUp: { tenant: { slug: 'grants' } } }, orderBy: { units: 'asc' }, select: { periodId: true, units: true, isFinal: true } }))
    .toEqual([{ periodId: '2027-03-01', units: 15n, isFinal: false }, { periodId: '2027-03-01', units: 30n, isFinal: false }]);
  expect(await drawn()).toEqual([[short.body.id, 30, 'spent'], [long.body.id, 15, 'active']]);
}, 60_000);

// Mutation: take a grant away whole at its end, or leave it whole.
it('keeps what was drawn of a top-up allowed after its end, and drops the rest; withdrawing ends it at once', async () => {
  rig.clock.set(MARCH + 10 * DAY_MS);
  await rig.tenant('ending', 'base');
  const endMs = MARCH + 12 * DAY_MS;
  await rig.topUp('ending', { units: 50, expiresAt: new Date(endMs).toISOString() });
  await rig.relay();
  expect(await rig.call('ending', 120)).toBe(30);
  rig.clock.set(endMs);
  expect(await rig.call('ending', 1)).toBeNull();
  expect(await settledAfter(endMs)).toBe(1);
  expect((await rig.quota('ending'))?.allowance).toBe(120);
  const other = await rig.topUp('ending', { units: 40 });
  await rig.relay();
  expect(await rig.call('ending', 25)).toBe(15);
  rig.clock.advance(1_000);
  const path = `/v1/tenants/ending/top-ups/${other.body.id ?? ''}`;
  expect((await rig.api.call('DELETE', `${path}?reason=a%20mistake`, { ifMatch: 7 })).status).toBe(412);
  expect((await rig.api.call('DELETE', path, { ifMatch: 1 })).status).toBe(422);
  expect(await rig.api.call('DELETE', `${path}?reason=a%20mistake`, { ifMatch: 1 })).toMatchObject({ status: 200, body: { state: 'withdrawn', drawn: 25, remaining: 0, version: 2 } });
  expect((await rig.api.call('DELETE', `${path}?reason=a%20mistake`, { ifMatch: 2 })).status).toBe(409);
  await rig.relay();
  expect(await rig.call('ending', 1)).toBeNull();
  await settledAfter(rig.clock.now());
  expect((await rig.quota('ending'))?.allowance).toBe(145);
  expect(await rig.api.call('GET', path)).toMatchObject({ body: { state: 'withdrawn', drawn: 25, remaining: 0 } });
}, 60_000);

// Mutation: give a top-up's units anew with the count of a restart.
it('gives the units of a top-up once, also when a restart begins the count anew', async () => {
  rig.clock.set(MARCH + 10 * DAY_MS);
  await rig.tier('bigger', { allowance: 200 });
  await rig.tenant('restarted', 'base');
  await rig.topUp('restarted', { units: 50 });
  await rig.relay();
  expect(await rig.call('restarted', 130)).toBe(20);
  rig.clock.advance(1_000);
  const moved = await rig.api.call('PUT', '/v1/tenants/restarted/tier', { ifMatch: 1, body: { tier: 'bigger', usage: 'restart', reason: 'upgrade' } });
  expect(moved.status).toBe(200);
  await rig.relay();
  expect([(await rig.segment('restarted')).part, (await rig.quota('restarted'))?.allowance]).toEqual([2, 200]);
  await settledAfter(rig.clock.now());
  expect((await rig.quota('restarted'))?.allowance).toBe(220);
  expect(await rig.call('restarted', 210)).toBe(10);
  await settledAfter(APRIL);
  expect((await rig.quota('restarted'))?.allowance).toBe(210);
}, 60_000);

// Mutation: wait for ever for a node that does not flush; do not wait at all.
it('waits up to a minute for journals of before the end', async () => {
  rig.clock.set(MARCH + 10 * DAY_MS);
  await rig.tenant('patient', 'carrying');
  await rig.prisma.incarnation.create({ data: { id: 'fold', service: 'worker', foldedAt: new Date(APRIL - 1_000) } });
  await settledAfter(APRIL);
  rig.clock.set(APRIL + 59_000);
  await rig.sweep().run();
  expect((await rig.quota('patient'))?.allowance).toBe(100);
  rig.clock.set(APRIL + 60_000);
  await rig.sweep().run();
  expect((await rig.quota('patient'))?.allowance).toBe(145);
  await rig.prisma.incarnation.deleteMany();
}, 60_000);

// Mutation: keep provisional rows at the closing; publish nothing where the closing found other figures; change final rows.
it('makes draws and carried units final at the closing, corrects what was provisional and has the tenant published', async () => {
  rig.clock.set(MARCH + 10 * DAY_MS);
  await rig.tier('both', { allowance: 100, carry: { cap: 50 } });
  for (const slug of ['late', 'steady']) await rig.tenant(slug, 'both');
  await rig.topUp('late', { units: 40 });
  await rig.relay();
  await rig.call('late', 110);
  await rig.call('steady', 80);
  await settledAfter(APRIL);
  expect([(await rig.quota('late'))?.allowance, (await rig.quota('steady'))?.allowance]).toEqual([130, 120]);
  await rig.journal({ tenant: 'late', meter: 'requests', periodId: '2027-03-01', part: 1, generation: 1 }, 20);
  rig.clock.set(APRIL + DAY_MS);
  const close = async (): Promise<string[]> => {
    const now = new Date(rig.clock.now());
    const tenants = await readPolicyRows(rig.prisma, ['late', 'steady'], { overrides: 'all', now });
    const period = { id: '2027-03-01', startMs: MARCH, endMs: APRIL, timezone: 'UTC' };
    const figures = await rig.ledger.figuresOf(tenants, new Map(tenants.map(({ tenant }) => [tenant, [period]])));
    return rig.prisma.transaction((tx) => finaliseQuotas(tx, figures, now));
  };
  expect(await close()).toEqual(['late']);
  expect(await rig.prisma.topUpDraw.findMany({ where: { topUp: { tenant: { slug: 'late' } } } })).toMatchObject([{ units: 30n, isFinal: true }]);
  expect(await rig.prisma.usageCarry.findMany({ where: { tenant: { in: ['late', 'steady'] } }, orderBy: { tenant: 'asc' } }))
    .toMatchObject([{ tenant: 'late', periodId: '2027-04-01', units: 0n, isFinal: true }, { tenant: 'steady', units: 20n, isFinal: true }]);
  await rig.sweep().run();
  expect((await rig.quota('late'))?.allowance).toBe(110);
  expect(await close()).toEqual([]);
}, 60_000);

it('names the field that cannot be', async () => {
  rig.clock.set(MARCH + 10 * DAY_MS);
  await rig.tier('open', { allowance: null }, { meter: 'tokens', allowance: 10 });
  await rig.tenant('fields', 'open');
  const refused = async (body: object): Promise<unknown> => {
    const answer = await rig.topUp('fields', { meter: 'tokens', units: 5, ...body });
    return [answer.status, answer.body.errors?.map(({ pointer }) => pointer)];
  };
  expect(await refused({ meter: 'exports' })).toEqual([422, ['/meter']]);
  expect(await refused({ meter: 'requests' })).toEqual([422, ['/meter']]);
  expect(await refused({ units: Number.MAX_SAFE_INTEGER })).toEqual([422, ['/units']]);
  expect(await refused({ from: '2029-01-01T00:00:00Z' })).toEqual([422, ['/from']]);
  expect(await refused({ expiresAt: '2027-03-01T00:00:00Z' })).toEqual([422, ['/expiresAt']]);
  expect(await refused({ reason: '' })).toEqual([422, ['/reason']]);
  expect((await rig.api.call('POST', '/v1/tenants/nobody/top-ups', { body: { meter: 'requests', units: 1, reason: 'spec grant' } })).status).toBe(404);
  const headers = { 'idempotency-key': 'grant-1' };
  const body = { meter: 'tokens', units: 5, reason: 'spec grant', ticket: 'OPS-1' };
  const made = await rig.api.call('POST', '/v1/tenants/fields/top-ups', { body, headers });
  const again = await rig.api.call('POST', '/v1/tenants/fields/top-ups', { body, headers });
  expect([made.status, again.body.id]).toEqual([201, made.body.id]);
  expect((await rig.api.call('GET', `/v1/tenants/grants/top-ups/${made.body.id ?? ''}`)).status).toBe(404);
  expect((await rig.api.call('GET', '/v1/tenants/fields/top-ups?state=active&limit=1')).body.items).toMatchObject([{ id: made.body.id, ticket: 'OPS-1', priority: 100 }]);
  expect((await rig.api.call('GET', '/v1/tenants/fields/top-ups?state=spent')).body.items).toEqual([]);
  expect(await rig.prisma.auditEntry.findMany({ where: { tenant: 'fields', entityType: 'top-up' } })).toMatchObject([{ action: 'top-up.create', reason: 'spec grant', ticket: 'OPS-1' }]);
});
