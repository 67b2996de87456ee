import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { AUGUST, SEPTEMBER, StatementsRig } from './specs/statements-rig';

let rig: StatementsRig;
let tier: string;
let tenants = 0;
let slug: string;
beforeAll(async () => {
  rig = await StatementsRig.start();
  tier = await rig.tier('billed', 100);
});
afterAll(async () => {
  await rig?.stop();
});
// Each with two statements, of which the first has two adjustments.
beforeEach(async () => {
  slug = `t-${(tenants += 1)}`;
  await rig.tenant(slug, tier);
  await rig.use(slug, 120, { refunded: 3, incarnation: `${slug}-node` });
  await rig.worker().closing.run();
  for (const more of [1, 2]) {
    await rig.use(slug, more, { incarnation: `${slug}-node` });
    await rig.worker().adjustments.run();
  }
  expect(await rig.verify(slug)).toMatchObject({ isSound: true, statements: 2 });
});

const problems = async () => {
  const { isSound, problems: found } = await rig.verify(slug);
  expect(isSound).toBe(found.length === 0);
  return found.map(({ tenant, number, period, problem }) => [tenant, number, period, problem]);
};
const AUG = AUGUST.id;
const SEP = SEPTEMBER.id;

// Mutation of each: leave its check out.
it.each([
  ['a byte of the content', (of: string) => `UPDATE statements SET content = jsonb_set(content, '{lines,0,parts,0,tier}', '"billee"') WHERE ${of} AND number = 1`, [[1, AUG, 'hash']]],
  ['a figure of the content', (of: string) => `UPDATE statements SET content = jsonb_set(content, '{lines,0,used}', '"118"') WHERE ${of} AND number = 1`, [[1, AUG, 'hash'], [1, AUG, 'figures'], [1, AUG, 'figures']]],
  ['the whole content', (of: string) => `UPDATE statements SET content = '{}' WHERE ${of} AND number = 1`, [[1, AUG, 'hash'], [1, AUG, 'figures']]],
  ['who closed it', (of: string) => `UPDATE statements SET closed_by = 'nobody' WHERE ${of} AND number = 2`, [[2, SEP, 'hash']]],
  ['a hash', (of: string) => `UPDATE statements SET hash = repeat('a', 64) WHERE ${of} AND number = 1`, [[1, AUG, 'hash'], [1, AUG, 'adjustment'], [2, SEP, 'chain']]],
  ['the first statement, taken away', (of: string) => `DELETE FROM statements WHERE ${of} AND number = 1`, [[0, AUG, 'chain'], [2, SEP, 'chain']]],
  ['the last statement, taken away', (of: string) => `DELETE FROM statements WHERE ${of} AND number = 2`, [[0, SEP, 'chain']]],
  ['a raw row', (of: string) => `UPDATE usage_journals SET admitted = admitted + 1 WHERE ${of}`, [[1, AUG, 'figures']]],
  ['a raw row, taken away', (of: string) => `DELETE FROM usage_journals WHERE ${of}`, [[1, AUG, 'figures']]],
  ['a record that nobody sent', (of: string) => `INSERT INTO usage_external (tenant, period_id, meter, part, adjusted) SELECT tenant, period_id, 'requests', 1, 5 FROM statements WHERE ${of} AND number = 2`, [[2, SEP, 'figures']]],
  ['the units of an adjustment', (of: string) => `UPDATE statement_adjustments SET units = 9 WHERE number = 2 AND statement_id = (SELECT id FROM statements WHERE ${of} AND number = 1)`, [[1, AUG, 'adjustment'], [1, AUG, 'figures']]],
  ['an adjustment, taken away', (of: string) => `DELETE FROM statement_adjustments WHERE number = 1 AND statement_id = (SELECT id FROM statements WHERE ${of} AND number = 1)`, [[1, AUG, 'adjustment'], [1, AUG, 'figures']]],
] as const)('finds %s', async (_, sqlOf, found) => {
  expect(await rig.tamper(sqlOf(`tenant = '${slug}'`))).toBe(1);
  expect(await problems()).toEqual(found.map((place) => [slug, ...place]));
});

it('refuses whoever goes through SQL: statements and adjustments are append-only', async () => {
  for (const table of ['statements', 'statement_adjustments']) {
    await expect(rig.prisma.$executeRawUnsafe(`UPDATE ${table} SET hash = ''`)).rejects.toThrow(/append-only/);
    await expect(rig.prisma.$executeRawUnsafe(`DELETE FROM ${table}`)).rejects.toThrow(/append-only/);
  }
});
