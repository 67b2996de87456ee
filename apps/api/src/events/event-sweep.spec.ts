import { EVENT_DATA, webhookBody, type EventType } from '@quotaplane/contracts';
import { startPostgres, TestClock, type TestPostgres } from '@quotaplane/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../config/app-config';
import { PrismaService } from '../database/prisma.service';
import { ENDING_NOTICE_MS, EventSweep } from './event-sweep';
import { recordEvents } from './record-events';

const NOW = Date.UTC(2026, 10, 30, 14, 30);
const HOUR_MS = 3_600_000;
const clock = new TestClock(NOW);
let postgres: TestPostgres;
let prisma: PrismaService;
let sweep: EventSweep;
let tenantId: string;
beforeAll(async () => {
  postgres = await startPostgres();
  prisma = new PrismaService(readConfig({ DATABASE_URL: postgres.url, REDIS_URL: 'redis://127.0.0.1:1' }));
  ({ id: tenantId } = await prisma.tenant.create({ data: { slug: 'acme', name: 'Acme' } }));
  await prisma.tenant.create({ data: { slug: 'left', name: 'Left', deletedAt: new Date(NOW) } });
});
beforeEach(() => {
  sweep = new EventSweep(prisma, clock);
});
afterEach(async () => {
  clock.set(NOW);
  await prisma.event.deleteMany();
  await prisma.override.deleteMany();
  await prisma.trafficMinute.deleteMany();
});
afterAll(async () => {
  await prisma?.$disconnect();
  await postgres?.stop();
});

const override = (until: Date | null, fields: { revertedAt?: Date } = {}) =>
  prisma.override.create({ data: { tenantId, subject: { scope: 'tenant' }, mode: 'exactly', set: {}, reason: 'launch', from: new Date(NOW), until, createdBy: 'spec', ...fields } });
const denials = (tenant: string, minute: number, deniedByLimit: Record<string, number>) =>
  prisma.trafficMinute.create({ data: { tenant, minute: new Date(minute), denied: Object.values(deniedByLimit).reduce((sum, count) => sum + count, 0), deniedByLimit } });
/** All events so far, each held against the contract of its type. */
async function events() {
  const rows = await prisma.event.findMany({ orderBy: { dedupeKey: 'asc' } });
  for (const { type, at, data } of rows) webhookBody.parse({ type, timestamp: at.toISOString(), data });
  return rows;
}

describe('override.ending', () => {
  // Mutation: look for ends past the notice, or leave the notice's own instant out.
  it('is told 24 h before the end, once, however often and by however many the sweep runs', async () => {
    const until = new Date(NOW + ENDING_NOTICE_MS + 1);
    const { id } = await override(until);
    await sweep.run();
    expect(await events()).toEqual([]);
    clock.advance(1);
    await Promise.all([sweep.run(), new EventSweep(prisma, clock).run()]);
    await sweep.run();
    expect(await events()).toMatchObject([{
      type: 'override.ending', tenant: 'acme', dedupeKey: `ending|${id}|${until.toISOString()}`, at: new Date(NOW + 1),
      data: { tenant: 'acme', overrideId: id, until: until.toISOString(), reason: 'launch' },
    }]);
  });

  // Mutation: a dedupe key without the end.
  it('is told again when the end is moved, and at once when it is moved near', async () => {
    const { id } = await override(new Date(NOW + HOUR_MS));
    await sweep.run();
    await prisma.override.update({ where: { id }, data: { until: new Date(NOW + 40 * HOUR_MS) } });
    await sweep.run();
    expect(await events()).toHaveLength(1);
    await prisma.override.update({ where: { id }, data: { until: new Date(NOW + 2 * HOUR_MS + 7) } });
    await sweep.run();
    expect((await events()).map(({ data }) => (data as { until: string }).until)).toEqual(['2026-11-30T15:30:00.000Z', '2026-11-30T16:30:00.007Z']);
  });

  it('is not told of what has no end, has ended, or was reverted', async () => {
    await override(null);
    await override(new Date(NOW));
    await override(new Date(NOW + HOUR_MS), { revertedAt: new Date(NOW) });
    await sweep.run();
    expect(await events()).toEqual([]);
  });

  it('is told of more overrides than one batch holds', async () => {
    const row = { tenantId, subject: { scope: 'tenant' }, mode: 'exactly', set: {}, reason: 'many', from: new Date(NOW), until: new Date(NOW + HOUR_MS), createdBy: 'spec' };
    await prisma.override.createMany({ data: Array.from({ length: 520 }, () => row) });
    await sweep.run();
    expect(await events()).toHaveLength(520);
  });
});

describe('tenant.limited', () => {
  // Mutation: one event a minute, or denials of one minute only.
  it('is told once an hour, with what denied until then, most first', async () => {
    await denials('acme', NOW - 2 * 60_000, { 'per-minute': 3, burst: 4 });
    await denials('acme', NOW - 60_000, { 'per-minute': 6 });
    await denials('left', NOW, { 'per-minute': 6 });
    await denials('anonymous', NOW, { 'per-minute': 6 });
    await sweep.run();
    await denials('acme', NOW, { 'per-minute': 100 });
    await sweep.run();
    expect(await events()).toMatchObject([{
      type: 'tenant.limited', tenant: 'acme', dedupeKey: 'limited|acme|2026-11-30T14', at: new Date(NOW),
      data: { tenant: 'acme', hour: '2026-11-30T14:00:00.000Z', denied: 13, limits: [{ name: 'per-minute', denied: 9 }, { name: 'burst', denied: 4 }] },
    }]);
  });

  // Mutation: a worker that starts looks at the running hour only, or one that runs looks no further back than its last look.
  it('is told in the next hour again, of a last minute that was folded late, and of what no worker has looked at', async () => {
    const running = new EventSweep(prisma, clock);
    await denials('acme', NOW - 60_000, { a: 1 });
    await running.run();
    clock.set(NOW + HOUR_MS + 29.9 * 60_000);
    await running.run();
    await denials('acme', NOW + HOUR_MS + 28 * 60_000, { a: 1 });
    clock.set(NOW + HOUR_MS + 31 * 60_000);
    await running.run();
    await denials('acme', NOW + 2 * HOUR_MS + 29 * 60_000, { a: 1 });
    clock.set(NOW + 2 * HOUR_MS + 45 * 60_000);
    await new EventSweep(prisma, clock).run();
    expect((await events()).map(({ dedupeKey }) => dedupeKey)).toEqual(['limited|acme|2026-11-30T14', 'limited|acme|2026-11-30T15', 'limited|acme|2026-11-30T16']);
  });

  it('is told of nobody without denials', async () => {
    await prisma.trafficMinute.create({ data: { tenant: 'acme', minute: new Date(NOW), allowed: 5 } });
    await sweep.run();
    expect(await events()).toEqual([]);
  });
});

it('records an event once, also when several recorders know of it at once', async () => {
  const all = Array.from({ length: 40 }, (_, index) => ({
    type: 'usage.threshold_reached' as const, tenant: 'acme', dedupeKey: `threshold|acme|requests|2026-11-01|${index}`, at: new Date(NOW),
    data: EVENT_DATA['usage.threshold_reached' satisfies EventType].parse({ tenant: 'acme', meter: 'requests', period: '2026-11-01', percent: index, used: '5', allowance: '10', reachedAt: new Date(NOW).toISOString() }),
  }));
  const counts = await Promise.all([all, [...all].reverse(), all.slice(10)].map((some) => prisma.transaction((tx) => recordEvents(tx, some))));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(40);
  expect(await events()).toHaveLength(40);
});
