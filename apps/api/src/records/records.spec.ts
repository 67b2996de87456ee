import { MAX_EXACT, RECORD_AGE_MAX_MS, RECORD_FUTURE_MAX_MS, type UsageRecord } from '@quotaplane/contracts';
import { startPostgres, startRedis, TestClock, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DAY_MS, NOW_MS, RecordsRig } from './records-rig';

let postgres: TestPostgres;
let redisServer: TestRedis;
let rig: RecordsRig;
beforeAll(async () => {
  [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
  rig = await RecordsRig.over({ postgres, redisServer }, new TestClock());
});
afterAll(async () => {
  await rig?.stop();
  await Promise.all([postgres?.stop(), redisServer?.stop()]);
});
beforeEach(() => rig.forgetAll());

const at = (ms: number): string => new Date(ms).toISOString();

describe('a list of records', () => {
  it('is summed by tenant, period, meter and part, kept as it came, and noted for the worker', async () => {
    const [first, ...others] = [rig.record({ units: 2 }), rig.record({ units: 3 }), rig.record({ tenant: 'hobby', meter: 'never-seen', units: 5 })];
    const answer = await rig.post([first, ...others]);
    expect(answer).toMatchObject({ status: 200, counts: [3, 0, 0], statuses: ['counted', 'counted', 'counted'] });
    expect(answer.items[0]).toEqual({ index: 0, source: 'billing', id: first?.id, status: 'counted' });
    expect(await rig.sums()).toEqual(['acme 2026-05-01 requests 1: 5 0 0 0', 'hobby 2026-05-01 never-seen 1: 5 0 0 0']);
    expect(await rig.prisma.usageRecord.findMany({ where: { recordId: first?.id ?? '' } })).toMatchObject([{ units: 2n, kind: 'external', at: new Date(NOW_MS - 1_000), receivedAt: new Date(NOW_MS) }]);
    expect((await rig.prisma.usageTouch.findMany({ orderBy: { tenant: 'asc' } })).map(({ tenant, periodId }) => `${tenant} ${periodId}`)).toEqual(['acme 2026-05-01', 'hobby 2026-05-01']);
    expect((await rig.prisma.usagePeriod.findMany({ where: { tenant: 'acme' } }))).toMatchObject([{ periodId: '2026-05-01', startAt: new Date(Date.UTC(2026, 4, 1)), endAt: new Date(Date.UTC(2026, 5, 1)), closedAt: null }]);
  });

  // Mutations: refuse the whole body for one item; look for text that cannot be kept in the whole body at once; drop one of the bounds.
  it('is judged item by item: a bad one is told and loses none of the others', async () => {
    const good = rig.record();
    const bad: [object, string, string][] = [
      [rig.record({ units: 0 }), '/1/units', 'must not be 0'],
      [rig.record({ units: -1 }), '/2/reason', 'is required for a correction (negative units)'],
      [{ ...rig.record(), units: 1.5 }, '/3/units', `must be a whole number from -${MAX_EXACT} to ${MAX_EXACT}`],
      [{ ...rig.record(), units: 2 ** 53 }, '/4/units', `must be a whole number from -${MAX_EXACT} to ${MAX_EXACT}`],
      [{ ...rig.record(), extra: 1 }, '/5/extra', 'is not a known field'],
      [{ ...rig.record(), ['\u0000']: 1 }, '/6', 'must be a name without U+0000 and without lone surrogates'],
      [rig.record({ id: 'a\u0000' }), '/7/id', 'must be text without U+0000 and without lone surrogates'],
      [rig.record({ tenant: 'nobody' }), '/8/tenant', 'is not a tenant'],
      [rig.record({ at: at(NOW_MS + RECORD_FUTURE_MAX_MS + 1) }), '/9/at', 'must be at most 5 minutes ahead'],
      [rig.record({ at: at(NOW_MS - RECORD_AGE_MAX_MS - 1) }), '/10/at', 'must not be older than 34 days'],
      [{ source: 's' }, '/11/id', 'is required'],
      [['not a record'], '/12', 'must be an object'],
      [{ ...rig.record(), ['x'.repeat(1_000)]: 1 }, '/13', 'is not a known field'],
    ];
    const answer = await rig.post([good, ...bad.map(([item]) => item), rig.record({ id: 'last' })]);
    expect(answer).toMatchObject({ status: 200, counts: [2, 0, bad.length] });
    expect(answer.items.map(({ index }) => index)).toEqual(Array.from({ length: bad.length + 2 }, (_, index) => index));
    expect(answer.items.slice(1, -1).map(({ status, code, pointer, detail }) => [status, code, pointer, detail]))
      .toEqual(bad.map(([, pointer, detail], index) => ['refused', index === 7 ? 'not_found' : 'invalid', pointer, detail]));
    expect(answer.items[7]).toMatchObject({ source: 'billing', id: null });
    expect(await rig.sums()).toEqual(['acme 2026-05-01 requests 1: 2 0 0 0']);
  });

  it('takes records at both bounds, in the periods they were used in', async () => {
    const answer = await rig.post([rig.record({ at: at(NOW_MS + RECORD_FUTURE_MAX_MS) }), rig.record({ at: at(NOW_MS - RECORD_AGE_MAX_MS) })]);
    expect(answer.statuses).toEqual(['counted', 'counted']);
    expect(await rig.sums()).toEqual(['acme 2026-04-01 requests 1: 0 1 0 0', 'acme 2026-05-01 requests 1: 1 0 0 0']);
  });

  it('is refused as a whole where it is no list', async () => {
    for (const body of [{}, [], null, 'text', { specversion: '1.0' }, Array.from({ length: 1_001 }, () => rig.record())]) {
      expect(await rig.post(body)).toMatchObject({ status: 422, body: { code: 'invalid', errors: [{ pointer: '' }] } });
    }
    expect(await rig.post(undefined, { rawBody: '[{' })).toMatchObject({ status: 400, body: { code: 'malformed' } });
    expect(await rig.post(undefined, { rawBody: `[{"id":${'['.repeat(60_000)}${']'.repeat(60_000)}}]` })).toMatchObject({ status: 422 });
    expect((await rig.post(undefined, { rawBody: JSON.stringify([{ id: 'x'.repeat(2_200_000) }]) })).status).toBe(413);
    expect((await rig.post([rig.record()], { token: null })).status).toBe(401);
    expect(await rig.sums()).toEqual([]);
  });

  // Mutation: leave `beyondExact` out; a sum then passes what a number in JSON, and at last a bigint, can hold, and the whole request fails.
  it('P14 refuses the record that would take a sum past 2^53-1, and lets its id be used again', async () => {
    const large = Array.from({ length: 3 }, (_, index) => rig.record({ id: `large-${index}`, units: index === 0 ? MAX_EXACT - 1 : 2 }));
    const fits = rig.record({ units: 1 });
    const answer = await rig.post([...large, fits, large[1]]);
    expect(answer.statuses).toEqual(['counted', 'refused', 'refused', 'counted', 'refused']);
    expect(answer.items[1]).toMatchObject({ code: 'invalid', pointer: '/1/units' });
    expect(await rig.sums()).toEqual([`acme 2026-05-01 requests 1: ${MAX_EXACT} 0 0 0`]);
    expect((await rig.post([{ ...large[1], meter: 'other' }])).statuses).toEqual(['counted']);
  });

  it('repeats its answer for the same Idempotency-Key, and writes one audit entry into the chain of its tenant', async () => {
    const body = [rig.record({ id: 'keyed' }), rig.record({ units: 0 })];
    const [first, again] = [await rig.post(body, { headers: { 'idempotency-key': 'k1' } }), await rig.post(body, { headers: { 'idempotency-key': 'k1' } })];
    expect(again.body).toEqual(first.body);
    const entries = await rig.prisma.auditEntry.findMany({ where: { changeId: String(first.body.changeId) } });
    expect(entries).toMatchObject([{ chain: 'acme', tenant: 'acme', action: 'usage-records.post', after: { counted: 1, duplicates: 0, refused: 1 } }]);
    const mixed = await rig.post([rig.record(), rig.record({ tenant: 'hobby' })]);
    expect(await rig.prisma.auditEntry.findMany({ where: { changeId: String(mixed.body.changeId) } })).toMatchObject([{ chain: 'platform', tenant: null }]);
  });
});

describe('a token bound to a tenant', () => {
  // Mutation: look the tenant up without the binding.
  it('P18 counts for its tenant, and is told the same of another as of one that there is not', async () => {
    const made = await rig.api.call('POST', '/v1/tokens', { body: { name: 'bound', scopes: ['usage:write'], binding: { kind: 'tenant', tenant: 'acme' } } });
    const token = String(made.body.secret);
    const sent = (tenant: string): UsageRecord => rig.record({ tenant, id: 'same' });
    const answer = await rig.post([sent('acme'), sent('hobby'), sent('nobody')], { token });
    expect(answer.counts).toEqual([1, 0, 2]);
    const [, foreign, missing] = answer.items;
    expect({ ...foreign, index: 0, pointer: '' }).toEqual({ ...missing, index: 0, pointer: '' });
    expect(foreign).toMatchObject({ status: 'refused', code: 'not_found', pointer: '/1/tenant' });
    expect(await rig.sums()).toEqual(['acme 2026-05-01 requests 1: 1 0 0 0']);
    expect((await rig.post([sent('hobby')], { token })).counts).toEqual([0, 0, 1]);
    const reader = await rig.api.call('POST', '/v1/tokens', { body: { name: 'reader', scopes: ['usage:read'], binding: { kind: 'platform' } } });
    expect((await rig.post([sent('acme')], { token: String(reader.body.secret) })).status).toBe(403);
  });
});

describe('the kind of a record', () => {
  const MAY_END = Date.UTC(2026, 5, 1);
  const inMay = (part: Partial<UsageRecord> = {}): UsageRecord => rig.record({ at: at(MAY_END - DAY_MS), ...part });

  // Mutations: take the record's instant for when it came; count a correction as positive; ask for `closedAt` before the lock.
  it('follows when it came: external, late, then adjusted once the period is closed; negative units are corrections', async () => {
    rig.clock.set(MAY_END - 1);
    await rig.post([inMay({ units: 10 })]);
    rig.clock.set(MAY_END);
    await rig.post([inMay({ units: 20 }), inMay({ units: -5, reason: 'counted a test run' })]);
    expect(await rig.sums()).toEqual(['acme 2026-05-01 requests 1: 10 20 5 0']);
    await rig.prisma.usagePeriod.updateMany({ data: { closedAt: new Date(MAY_END + DAY_MS) } });
    rig.clock.set(MAY_END + DAY_MS);
    expect(await rig.post([inMay({ units: 7 }), inMay({ units: -3, reason: 'refunded by hand' }), rig.record()])).toMatchObject({ counts: [3, 0, 0], statuses: ['adjusted', 'adjusted', 'counted'] });
    expect(await rig.sums()).toEqual(['acme 2026-05-01 requests 1: 10 20 5 4', 'acme 2026-06-01 requests 1: 1 0 0 0']);
    const kinds = await rig.prisma.usageRecord.findMany({ where: { periodId: '2026-05-01' }, orderBy: [{ kind: 'asc' }, { units: 'asc' }] });
    expect(kinds.map(({ kind, units, reason }) => `${kind} ${units} ${reason}`)).toEqual([
      'adjustment -3 refunded by hand', 'adjustment 7 null', 'correction -5 counted a test run', 'external 10 null', 'late 20 null',
    ]);
  });

  // Mutation: lock the period without FOR SHARE; the record is then counted into a statement that was closed without it.
  it('is decided by a closing that runs beside it', async () => {
    rig.clock.set(MAY_END + DAY_MS);
    await rig.post([inMay({ units: 1 })]);
    const sent = await rig.prisma.transaction(async (tx) => {
      await tx.$executeRaw`SELECT 1 FROM usage_periods WHERE tenant = 'acme' AND period_id = '2026-05-01' FOR UPDATE`;
      const waiting = rig.post([inMay({ units: 2 })]);
      await expect.poll(() => rig.prisma.$queryRaw`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%usage_periods%FOR SHARE%'`).toHaveLength(1);
      await tx.$executeRaw`UPDATE usage_periods SET closed_at = now() WHERE tenant = 'acme'`;
      return [waiting];
    });
    expect((await sent[0])?.statuses).toEqual(['adjusted']);
    expect(await rig.sums()).toEqual(['acme 2026-05-01 requests 1: 0 1 0 2']);
  });
});

describe('the period and part of a record', () => {
  // Mutations: take the present calendar for all periods; compute a period that is recorded.
  it('follow the calendar that held at its instant', async () => {
    const tier = await rig.prisma.tier.findFirstOrThrow();
    const id = await rig.rig.tenant('mover', tier.id);
    const changeAt = new Date(Date.UTC(2026, 4, 1));
    await rig.prisma.tenant.update({ where: { id }, data: { timezone: 'America/New_York', anchorDay: 15 } });
    await rig.prisma.tenantCalendar.createMany({ data: [
      { tenantId: id, fromAt: new Date(0), timezone: 'UTC', anchorDay: 1, createdBy: 'spec' },
      { tenantId: id, fromAt: changeAt, timezone: 'America/New_York', anchorDay: 15, createdBy: 'spec' },
    ] });
    const mover = (ms: number): UsageRecord => rig.record({ tenant: 'mover', at: at(ms) });
    await rig.post([mover(changeAt.getTime() - 1), mover(changeAt.getTime()), mover(Date.UTC(2026, 4, 15, 3, 59)), mover(Date.UTC(2026, 4, 15, 4))]);
    expect(await rig.sums()).toEqual(['mover 2026-04-01 requests 1: 0 1 0 0', 'mover 2026-04-30 requests 1: 0 2 0 0', 'mover 2026-05-15 requests 1: 1 0 0 0']);
    expect(await rig.prisma.usagePeriod.findMany({ where: { tenant: 'mover', isTransition: true } })).toMatchObject([{ periodId: '2026-04-30', timezone: 'America/New_York' }]);
    // As the tenant's periods were cut when they ran, whatever its calendar says by now.
    await rig.prisma.tenantCalendar.deleteMany({ where: { tenantId: id } });
    await rig.post([mover(changeAt.getTime())]);
    expect((await rig.sums())[1]).toBe('mover 2026-04-30 requests 1: 0 3 0 0');
  });

  // Mutations: count every change of tier; leave the instant out of the comparison; count a restart at the period's very start.
  it('move on with each change of tier that restarts usage', async () => {
    const tier = await rig.prisma.tier.findFirstOrThrow();
    const id = await rig.rig.tenant('restarter', tier.id);
    const [start, restart, carry, second] = [Date.UTC(2026, 4, 1), Date.UTC(2026, 4, 10), Date.UTC(2026, 4, 12), Date.UTC(2026, 4, 18)];
    await rig.prisma.tierAssignment.createMany({ data: [[start, 'restart'], [restart, 'restart'], [carry, 'carry'], [second, 'restart']].map(([effective, usage]) =>
      ({ tenantId: id, tierId: tier.id, effectiveAt: new Date(Number(effective)), usage: String(usage), createdBy: 'spec' })) });
    const used = (ms: number, units: number): UsageRecord => rig.record({ tenant: 'restarter', at: at(ms), units });
    await rig.post([used(start, 1), used(restart - 1, 2), used(restart, 4), used(carry + 1, 8), used(second, 16)]);
    expect(await rig.sums()).toEqual(['restarter 2026-05-01 requests 1: 3 0 0 0', 'restarter 2026-05-01 requests 2: 12 0 0 0', 'restarter 2026-05-01 requests 3: 16 0 0 0']);
  });
});

it('is refused of a deleted tenant', async () => {
  const tier = await rig.prisma.tier.findFirstOrThrow();
  const id = await rig.rig.tenant('gone', tier.id);
  await rig.prisma.tenant.update({ where: { id }, data: { deletedAt: new Date(NOW_MS) } });
  expect((await rig.post([rig.record({ tenant: 'gone' })])).items).toMatchObject([{ status: 'refused', code: 'not_found', pointer: '/0/tenant' }]);
});
