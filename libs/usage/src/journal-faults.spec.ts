import { startRedis, type TestRedis } from '@quotaplane/testing';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Journal } from './journal';
import { JOURNAL_COUNTS, journalField, parseJournalField, type JournalCell } from './journal-field';
import { foldRows, readJournals } from './journal-reader';

const cell: JournalCell = { tenant: 'acme', meter: 'requests', periodId: '2026-11-01', part: 1, class: 'default', generation: 1 };

let server: TestRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

// Mutation: forget what a failed flush carried: the connection stands, so that nothing else has it written again.
it('writes with the next flush what a store that refused had not taken', async () => {
  const errors: string[] = [];
  const journal = new Journal({ redis, incarnation: 'refused', service: 'echo', storeNow: () => 1_000, onError: ({ message }) => errors.push(message) });
  journal.admit(cell, 3);
  await redis.config('SET', 'maxmemory', '1');
  expect(await journal.flush()).toBe(false);
  journal.admit(cell, 4);
  expect(await journal.flush()).toBe(false);
  await redis.config('SET', 'maxmemory', '0');
  expect(await journal.flush()).toBe(true);
  expect(errors).toHaveLength(2);
  expect(await readJournals(redis)).toMatchObject([{ incarnation: 'refused', rows: [{ ...cell, admitted: 7n }] }]);
});

// Mutations: take members of any shape; take a date that no calendar has, or whose period no store can keep: one such field stops the fold of all; take more than seven members.
it.each([
  'ACME|requests|2026-11-01|1|default|1|admitted', '|requests|2026-11-01|1|default|1|admitted', 'acme|re quests|2026-11-01|1|default|1|admitted',
  'acme|requests|2026-13-01|1|default|1|admitted', 'acme|requests|2026-11-00|1|default|1|admitted', 'acme|requests|2026-11-01|1.5|default|1|admitted',
  'acme|requests|2026-11-01|1|default|9999999999|admitted', 'acme|requests|2026-11-01|1|default|1|taken', 'acme|requests|2026-11-01|1|default|1|admitted|2',
  'acme|requests|0000-01-01|1|default|1|admitted', 'acme|requests|1969-12-31|1|default|1|admitted', 'acme|requests|9999-12-31|1|default|1|admitted',
  'acme|requests|2026-11-01|1|default|1|degraded@', 'acme|requests|2026-11-01|1|default|1|degraded@123456789',
])('takes %s for no field of a journal', (field) => {
  expect(parseJournalField(field)).toBeNull();
  expect(foldRows('n', new Map([[field, '7']]))).toEqual({ rows: [], refused: 1 });
});

// Mutation: swap two members, or cut one off.
it('reads back every field it writes', () => {
  const slug = fc.stringMatching(/^[a-z0-9-]{1,63}$/);
  const ordinal = fc.integer({ min: 0, max: 999_999_999 });
  const cells = fc.record({ tenant: slug, meter: slug, periodId: fc.constantFrom('2026-01-31', '2028-02-29', '1970-01-01', '8999-12-31'), part: ordinal, class: slug, generation: ordinal });
  fc.assert(fc.property(cells, fc.constantFrom(...JOURNAL_COUNTS), fc.option(fc.integer({ min: 0, max: 99_999_999 })), (one, count, hour) => {
    const isHour = count === 'degraded' && hour !== null;
    expect(parseJournalField(journalField(one, isHour ? `degraded@${hour}` : count))).toEqual({ cell: one, count, hour: isHour ? hour : null });
  }));
});

// Mutations: write all fields, or read all values, by one command with that many arguments.
it('writes and reads back the counts of 60,000 tenants at once, as after a loss of the store', async () => {
  const errors: Error[] = [];
  const journal = new Journal({ redis, incarnation: 'crowded', service: 'echo', storeNow: () => 1_000, onError: (error) => errors.push(error) });
  for (let index = 0; index < 60_000; index += 1) {
    const own = { ...cell, tenant: `tenant-${index}` };
    journal.admit(own, 3);
    journal.refund(own, 1);
  }
  expect(await journal.flush()).toBe(true);
  expect(errors).toEqual([]);
  const rows = (await readJournals(redis)).find(({ incarnation }) => incarnation === 'crowded')?.rows ?? [];
  expect(rows).toHaveLength(60_000);
  expect(rows.every(({ admitted, refunded }) => admitted === 3n && refunded === 1n)).toBe(true);
});
