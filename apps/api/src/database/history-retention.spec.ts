import { randomUUID } from 'node:crypto';
import { startPostgres, startRedis, TestClock, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { OutboxRig } from '../outbox/outbox-rig';
import { HISTORY_MS, HistoryRetention } from './history-retention';

let postgres: TestPostgres;
let redisServer: TestRedis;
let rig: OutboxRig;
beforeAll(async () => {
  [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
  rig = await OutboxRig.over({ postgres, redisServer });
});
afterAll(async () => {
  await rig?.stop();
  await Promise.all([postgres?.stop(), redisServer?.stop()]);
});

const clock = new TestClock();
const aged = (ageMs: number): Date => new Date(clock.now() - ageMs);
const MINUTE_MS = 60_000;

// Mutations: one batch only; compare with `<=` a day less; leave the tenant out of the join.
it('keeps 90 days of chart minutes and works off older ones batch by batch, also from two workers at once', async () => {
  const tenants = ['acme', 'hobby'];
  const row = (tenant: string, ageMs: number) => ({ tenant, minute: aged(ageMs), allowed: 1n, units: 1n, denied: 0n, deniedByLimit: {} });
  const old = tenants.flatMap((tenant) => Array.from({ length: 60 }, (_, index) => row(tenant, HISTORY_MS.traffic + (index + 1) * MINUTE_MS)));
  const kept = tenants.flatMap((tenant) => [row(tenant, HISTORY_MS.traffic - MINUTE_MS), row(tenant, 0)]);
  await rig.prisma.trafficMinute.createMany({ data: [...old, ...kept] });
  const sweep = () => new HistoryRetention(rig.prisma, clock).sweep({ traffic: 7, changes: 7, recordIds: 7, deliveries: 7, events: 7 });
  const [one, two] = await Promise.all([sweep(), sweep()]);
  // Where a batch met only rows that the other worker held, it stops early: the next sweep goes on.
  const rest = await sweep();
  expect(one.traffic + two.traffic + rest.traffic).toBe(120);
  expect(await rig.prisma.trafficMinute.count()).toBe(4);
  await rig.prisma.trafficMinute.deleteMany();
});

// Mutations: delete what is not published; delete the change that brought a tenant's present revision; leave its revisions to the foreign key.
it('keeps 180 days of receipts, whatever is not published, and the change of each present revision', async () => {
  const tier = await rig.tier('free');
  const tenantId = await rig.tenant('acme', tier);
  await rig.prisma.tenant.update({ where: { id: tenantId }, data: { revision: 7 } });
  const change = async (name: string, publishedAt: Date | null, revisions: number[] = []): Promise<readonly [string, string]> => {
    const id = randomUUID();
    await rig.prisma.change.create({
      data: { id, topics: [], committedAt: publishedAt ?? aged(2 * HISTORY_MS.changes), publishedAt, revisions: { create: revisions.map((revision) => ({ tenant: 'acme', revision })) } },
    });
    return [id, name];
  };
  const old = aged(HISTORY_MS.changes + 1_000);
  const names = new Map([
    await change('old', old, [5]), await change('old without revisions', old), await change('present revision', old, [7]),
    await change('not published', null), await change('young', aged(HISTORY_MS.changes - 1_000), [6]),
  ]);
  expect((await new HistoryRetention(rig.prisma, clock).sweep({ traffic: 1, changes: 1, recordIds: 1, deliveries: 1, events: 1 })).changes).toBe(2);
  const left = (await rig.prisma.change.findMany()).map(({ id }) => names.get(id));
  expect(left.sort()).toEqual(['not published', 'present revision', 'young']);
  expect((await rig.prisma.changeRevision.findMany({ orderBy: { revision: 'asc' } })).map(({ revision }) => revision)).toEqual([6, 7]);
});

// Mutations: compare with `<=`; take the memory of 34 days; one batch only.
it('P13 keeps the ids of usage records for 35 days to the ms, and works off older ones batch by batch', async () => {
  const id = (recordId: string, ageMs: number) => ({ tenant: 'acme', source: 'billing', recordId, receivedAt: aged(ageMs) });
  const old = Array.from({ length: 25 }, (_, index) => id(`old-${index}`, HISTORY_MS.recordIds + 1 + index));
  await rig.prisma.usageRecordId.createMany({ data: [...old, id('at-the-end', HISTORY_MS.recordIds), id('34-days', 34 * 24 * 60 * MINUTE_MS), id('new', 0)] });
  expect((await new HistoryRetention(rig.prisma, clock).sweep({ traffic: 7, changes: 7, recordIds: 7, deliveries: 7, events: 7 })).recordIds).toBe(25);
  expect((await rig.prisma.usageRecordId.findMany({ orderBy: { receivedAt: 'asc' } })).map(({ recordId }) => recordId)).toEqual(['at-the-end', '34-days', 'new']);
});

// Mutations: drop what waits to be sent; drop an event before its deliveries; forget keys after 90 days.
it('keeps ended deliveries for 90 days and events for 400, and whatever is still to be sent', async () => {
  const { id: webhookId } = await rig.prisma.webhook.create({ data: { url: 'https://example.com', events: ['tenant.limited'], secret: 'whsec_x', createdBy: 'spec' } });
  const event = async (name: string, ageMs: number, delivery?: { readonly state: string; readonly ageMs: number }): Promise<void> => {
    const { id } = await rig.prisma.event.create({ data: { type: 'tenant.limited', dedupeKey: name, at: aged(ageMs), data: {}, createdAt: aged(ageMs), fannedOutAt: aged(ageMs) } });
    if (delivery) await rig.prisma.webhookDelivery.create({ data: { webhookId, eventId: id, state: delivery.state, createdAt: aged(delivery.ageMs) } });
  };
  const [oldDelivery, oldEvent] = [HISTORY_MS.deliveries + 1_000, HISTORY_MS.events + 1_000];
  for (let index = 0; index < 5; index += 1) await event(`old-${index}`, oldEvent, { state: 'delivered', ageMs: oldDelivery });
  await event('waits', oldEvent, { state: 'pending', ageMs: oldDelivery });
  await event('key', oldDelivery, { state: 'given-up', ageMs: oldDelivery });
  await event('young', 0, { state: 'delivered', ageMs: HISTORY_MS.deliveries - 1_000 });
  const { deliveries, events } = await new HistoryRetention(rig.prisma, clock).sweep({ traffic: 2, changes: 2, recordIds: 2, deliveries: 2, events: 2 });
  expect([deliveries, events]).toEqual([6, 5]);
  expect((await rig.prisma.event.findMany({ orderBy: { dedupeKey: 'asc' }, include: { deliveries: true } })).map(({ dedupeKey, deliveries: held }) => [dedupeKey, held.length])).toEqual([['key', 0], ['waits', 1], ['young', 1]]);
});
