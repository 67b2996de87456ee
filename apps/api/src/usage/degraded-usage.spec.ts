import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { Journal, periodAt, type JournalCell } from '@quotaplane/usage';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startSpecApp, type SpecApp } from '../http/spec-app';
import { OutboxRig } from '../outbox/outbox-rig';

const HOUR_MS = 3_600_000;
/** The last three full hours, oldest first. */
const HOURS_MS = [1, 2, 3].map((back) => Math.floor(Date.now() / HOUR_MS) * HOUR_MS - back * HOUR_MS).reverse();
const isoOf = (index: number): string => new Date(HOURS_MS[index] ?? 0).toISOString();

let postgres: TestPostgres;
let redisServer: TestRedis;
let rig: OutboxRig;
let api: SpecApp;
let periodId: string;
beforeAll(async () => {
  [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
  rig = await OutboxRig.over({ postgres, redisServer });
  api = await startSpecApp({ databaseUrl: postgres.url, redisUrl: redisServer.url });
  // A period around the oldest hour; at the very start of a month it is the one before.
  periodId = periodAt({ timezone: 'UTC', anchorDay: 1, nowMs: HOURS_MS[0] ?? 0 }).id;
  for (const degraded of ['bill', 'waive', 'cap'] as const) {
    const tier = await rig.tier(`t-${degraded}`, { quotas: [{ meter: 'requests', allowance: 100, overage: 'bill', alertAt: [] }], degraded });
    await rig.tenant(degraded, tier);
  }
  // The tier is in force since before the period began.
  await rig.prisma.tierAssignment.updateMany({ data: { effectiveAt: new Date(0), createdAt: new Date(0) } });
  await rig.prisma.tierVersion.updateMany({ data: { effectiveAt: new Date(0), publishedAt: new Date(0) } });
  let nowMs = 0;
  const nodes = ['one', 'two'].map((incarnation) => new Journal({ redis: rig.redis, incarnation, service: 'echo', storeNow: () => nowMs }));
  for (const tenant of ['bill', 'waive', 'cap']) {
    const cell = (name: string): JournalCell => ({ tenant, meter: 'requests', periodId, part: 1, class: name, generation: 1 });
    const [echo, search] = [cell('default'), cell('search')];
    nodes[0]?.admit(echo, 60);
    for (const [index, hourMs] of HOURS_MS.entries()) {
      nowMs = hourMs + index * 60_000;
      // 20 an hour on either node: 10 of search on one of them, 15 of default over both.
      nodes[0]?.admitDegraded(search, 10);
      for (const journal of nodes) journal.admitDegraded(echo, journal === nodes[0] ? 10 : 5);
    }
  }
  nowMs = Date.now();
  for (const journal of nodes) await journal.close();
  const fold = rig.fold();
  await fold.run();
  await fold.run();
});
afterAll(async () => {
  await api?.stop();
  await rig?.stop();
  await Promise.all([postgres?.stop(), redisServer?.stop()]);
});

const listed = async (query: string) => {
  const answer = await api.call('GET', `/v1/usage/degraded?${query}`);
  expect(answer.status).toBe(200);
  return { items: (answer.body.items ?? []).map((item) => [item['hour'], item['class'], item['degraded'], item['settled'], item['settlement']]), next: answer.body['nextCursor'] };
};

// Mutations: settle each row by itself; settle the newest hour first; count the hour of the flush.
it.each([
  ['bill', ['15', '10', '15', '10', '15', '10']],
  ['waive', ['0', '0', '0', '0', '0', '0']],
  // 40 of the allowance are left: the oldest hour whole, then the rest of the next.
  ['cap', ['0', '0', '15', '0', '15', '10']],
])('shows by hour and class what was admitted without the store and how it is settled under %s', async (tenant, settled) => {
  const { items } = await listed(`tenant=${tenant}`);
  const expected = [2, 1, 0].flatMap((hour) => [[isoOf(hour), 'default', '15'], [isoOf(hour), 'search', '10']]);
  expect(items).toEqual(expected.map((row, index) => [...row, settled[index], tenant]));
  const [usage] = (await api.call('GET', `/v1/usage?tenant=${tenant}&period=${periodId.slice(0, 7)}`)).body.items ?? [];
  const sum = settled.reduce((total, units) => total + Number(units), 0);
  expect(usage).toMatchObject({ breakdown: { admitted: '60', refunded: '0', degraded: '75', settled: String(sum) }, used: String(60 + sum) });
});

it('settles a part of the list as the whole would be settled, and pages without a gap or a repeat', async () => {
  const whole = await listed('tenant=cap');
  expect((await listed(`tenant=cap&from=${isoOf(1)}&to=${isoOf(2)}`)).items).toEqual(whole.items.slice(2, 4));
  const all = await listed('limit=200');
  expect(all.items).toHaveLength(18);
  const pages: unknown[] = [];
  for (let cursor = ''; ;) {
    const { items, next } = await listed(`limit=4${cursor}`);
    pages.push(...items);
    if (next === null) break;
    cursor = `&cursor=${String(next)}`;
  }
  expect(pages).toEqual(all.items);
});

it('shows a bound token its own tenant alone, and refuses a span that is none', async () => {
  const { body } = await api.call('POST', '/v1/tokens', { body: { name: 'bound', scopes: ['usage:read'], binding: { kind: 'tenant', tenant: 'bill' } } });
  const token = String(body['secret']);
  const items = (await api.call('GET', '/v1/usage/degraded', { token })).body.items ?? [];
  expect([...new Set(items.map((item) => item['tenant']))]).toEqual(['bill']);
  expect((await api.call('GET', '/v1/usage/degraded?tenant=cap', { token })).status).toBe(404);
  expect(await api.call('GET', `/v1/usage/degraded?from=${isoOf(2)}&to=${isoOf(1)}`)).toMatchObject({ status: 422, body: { errors: [{ pointer: '/query/to' }] } });
});
