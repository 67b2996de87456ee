import { expect, it } from 'vitest';
import { moveOf, tierChangeResolver, type TierChangeValues } from './tier-change-values';

const TENANT = { tier: 'free', timezone: 'Europe/Berlin', scheduledTier: null };
const VALUES: TierChangeValues = { tier: 'pro', when: 'now', at: '', usage: 'carry', reason: 'They upgraded' };
const FIELDS = { fields: {}, shouldUseNativeValidation: false };
const resolve = (more: Partial<TierChangeValues>, tenant: Parameters<typeof tierChangeResolver>[0] = TENANT) =>
  tierChangeResolver(tenant)({ ...VALUES, ...more }, undefined, FIELDS);

it('previews nothing until there is another tier and a time', () => {
  expect(moveOf({ ...VALUES, tier: 'free' }, TENANT)).toBeUndefined();
  expect(moveOf({ ...VALUES, when: 'at' }, TENANT)).toBeUndefined();
  expect(moveOf({ ...VALUES, when: 'at', at: '2099-06-01T00:00' }, TENANT)).toEqual({ tier: 'pro', usage: 'carry', effectiveAt: '2099-05-31T22:00:00.000Z' });
  expect(moveOf({ ...VALUES, when: 'period-end' }, TENANT)).toMatchObject({ effectiveAt: 'period-end' });
});

it('sends what the contract takes', async () => {
  expect(await resolve({ usage: 'restart' })).toEqual({ values: { tier: 'pro', effectiveAt: 'now', usage: 'restart', reason: 'They upgraded' }, errors: {} });
});

it('refuses the tier it has, unless that takes back a planned change', async () => {
  expect(Object.keys((await resolve({ tier: 'free' })).errors)).toEqual(['tier']);
  expect((await resolve({ tier: 'free' }, { ...TENANT, scheduledTier: { tier: 'pro', effectiveAt: '2099-01-01T00:00:00Z' } })).errors).toEqual({});
});

it.each<[Partial<TierChangeValues>, keyof TierChangeValues]>([
  [{ reason: '' }, 'reason'],
  [{ when: 'at', at: '' }, 'at'],
  [{ when: 'at', at: '2020-01-01T00:00' }, 'at'],
])('refuses %j at its field', async (more, field) => {
  expect(Object.keys((await resolve(more)).errors)).toEqual([field]);
});
