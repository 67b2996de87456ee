import { redisKeys, type Policy } from '@quotaplane/contracts';
import { segmentAt } from '@quotaplane/policy';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { QuotaRig } from '../quotas/specs/quota-rig';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let rig: QuotaRig;
beforeAll(async () => {
  rig = await QuotaRig.start(Date.UTC(2026, 1, 20));
  await rig.tier('month', { allowance: 100, carry: { cap: 50 } });
});
afterAll(() => rig?.stop());

const policyOf = async (slug: string): Promise<Policy> => JSON.parse((await rig.outbox.redis.get(redisKeys.policy(slug))) ?? 'null') as Policy;

// Mutation: compute the period's end in UTC; roll whenever the local date of the job differs from the one before.
it('C054 rolls a Pacific/Auckland tenant once, with the roll job each hour for 48 h over a month end', async () => {
  const rollMs = Date.UTC(2026, 3, 30, 12);
  rig.clock.set(rollMs - 24 * HOUR_MS);
  await rig.tenant('c054', 'month', { timezone: 'Pacific/Auckland' });
  expect(await rig.call('c054', 80)).toBe(20);
  const seen: string[] = [];
  let published = 0;
  for (let hour = 0; hour <= 48; hour += 1) {
    rig.clock.set(rollMs + (hour - 24) * HOUR_MS);
    published += await rig.sweep().run();
    const { period } = await rig.segment('c054');
    if (seen.at(-1) !== period.id) seen.push(period.id);
  }
  expect(seen).toEqual(['2026-04-01', '2026-05-01']);
  expect(published).toBe(1);
  expect(await rig.prisma.usageCarry.findMany({ where: { tenant: 'c054' }, select: { periodId: true, units: true } })).toEqual([{ periodId: '2026-05-01', units: 20n }]);
  expect((await rig.quota('c054'))?.allowance).toBe(120);
}, 120_000);

// Mutation: read local times twice; let a start or an end that falls into the repeated or missing hour come again or not at all.
it.each([
  ['repeats', 'from 05:30Z', '2026-11-01', '2026-11-01T05:30:00Z', '2026-11-01T06:30:00Z', 1, '2026-11-01T04:00:00.000Z'],
  ['is missing', 'from 06:30Z', '2026-03-08', '2026-03-08T06:30:00Z', '2026-03-08T07:30:00Z', 8, '2026-03-08T05:00:00.000Z'],
])('C053 starts and ends an override and a period once on the day the hour %s in New York (%s)', async (_what, _from, id, from, until, anchorDay, startsAt) => {
  const slug = `c053-${id}`;
  rig.clock.set(Date.parse(startsAt) - 3 * DAY_MS);
  await rig.tenant(slug, 'month', { timezone: 'America/New_York', anchorDay });
  const made = await rig.api.call('POST', '/v1/overrides', { body: { tenant: slug, mode: 'exactly', set: { quotas: { requests: { allowance: 500 } } }, from, until, reason: 'the night of the clocks' } });
  expect(made.status).toBe(201);
  // Prisma writes it by the machine's clock, by which the override would have begun before it was made.
  await rig.prisma.override.update({ where: { id: made.body.id ?? '' }, data: { updatedAt: new Date(rig.clock.now()) } });
  await rig.relay();
  const policy = await policyOf(slug);
  const changes: string[] = [];
  for (let atMs = Date.parse(startsAt) - DAY_MS, before = ''; atMs <= Date.parse(startsAt) + DAY_MS; atMs += 15 * 60_000) {
    const segment = segmentAt(policy, atMs);
    const now = `${segment?.period.id ?? ''} ${segment?.quotas[0]?.allowance ?? ''}`;
    if (before !== '' && now !== before) changes.push(`${new Date(atMs).toISOString()} ${now}`);
    before = now;
  }
  expect(changes).toEqual([`${startsAt} ${id} 100`, `${new Date(from).toISOString()} ${id} 500`, `${new Date(until).toISOString()} ${id} 100`]);
}, 60_000);

// Mutation: let a change of zone hold at once; cut ended periods by the new calendar.
it('changes zone and anchor day from the end of the running period on, and tells the transition', async () => {
  rig.clock.set(Date.UTC(2026, 5, 10));
  await rig.tenant('mover', 'month', { timezone: 'America/New_York' });
  await rig.call('mover', 10);
  const changed = await rig.api.call('PATCH', '/v1/tenants/mover', { ifMatch: 1, body: { timezone: 'Europe/Berlin', anchorDay: 15 } });
  const calendarChange = {
    effectiveAt: '2026-07-01T04:00:00.000Z',
    from: { timezone: 'America/New_York', anchorDay: 1 },
    transition: { id: '2026-07-01', start: '2026-07-01T04:00:00.000Z', end: '2026-07-14T22:00:00.000Z' },
  };
  expect(changed).toMatchObject({ status: 200, body: { timezone: 'Europe/Berlin', anchorDay: 15, calendarChange } });
  await rig.relay();
  const { segments } = await policyOf('mover');
  expect([...new Set(segments.map(({ period }) => period.id))].slice(0, 5)).toEqual(['2026-05-01', '2026-06-01', '2026-07-01', '2026-07-15', '2026-08-15']);
  expect((await rig.api.call('GET', '/v1/tenants/mover/policy')).body).toMatchObject({ timezone: 'America/New_York', period: { id: '2026-06-01' } });
  expect((await rig.api.call('PUT', '/v1/tenants/mover/tier', { ifMatch: 2, body: { tier: 'month', effectiveAt: 'period-end', reason: 'at the end' } })).body)
    .toMatchObject({ scheduledTier: { effectiveAt: calendarChange.effectiveAt } });
  rig.clock.set(Date.UTC(2026, 6, 2));
  expect((await rig.api.call('GET', '/v1/tenants/mover')).body).toMatchObject({ calendarChange });
  await rig.sweep().run();
  expect((await rig.quota('mover'))?.allowance).toBe(150);
  rig.clock.set(Date.UTC(2026, 6, 15));
  expect((await rig.api.call('GET', '/v1/tenants/mover')).body).toMatchObject({ calendarChange: null });
  // Set back before it holds, a change is none.
  expect((await rig.api.call('PATCH', '/v1/tenants/mover', { ifMatch: 3, body: { anchorDay: 20 } })).body).toMatchObject({ calendarChange: { from: { anchorDay: 15 } } });
  expect((await rig.api.call('PATCH', '/v1/tenants/mover', { ifMatch: 4, body: { anchorDay: 15 } })).body).toMatchObject({ anchorDay: 15, calendarChange: null });
}, 60_000);
