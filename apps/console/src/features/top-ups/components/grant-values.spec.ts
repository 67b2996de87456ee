import { expect, it } from 'vitest';
import type { TenantPolicy } from '@quotaplane/contracts';
import { emptyGrant, grantableMeters, grantEndOf, grantResolver, type GrantValues } from './grant-values';

const END_MS = Date.parse('2099-12-01T00:00:00Z');
const quota = (meter: string, allowance: number | null) => ({ meter, allowance, overage: 'reject' as const, sources: { allowance: 'tier:free@1' } });
const POLICY = {
  timezone: 'Europe/Berlin',
  period: { id: '2099-11-01', startMs: END_MS - 30 * 86_400_000, endMs: END_MS },
  quotas: [quota('exports', null), quota('requests', 1000)],
} as unknown as TenantPolicy;
const FIELDS = { fields: {}, shouldUseNativeValidation: false };
const resolve = (more: Partial<GrantValues>) => grantResolver(POLICY)({ ...emptyGrant(POLICY), units: 500, reason: 'Launch', ...more }, undefined, FIELDS);

it('offers only meters that can run out, and ends with the period by itself', async () => {
  expect(grantableMeters(POLICY)).toEqual(['requests']);
  expect(await resolve({})).toEqual({
    values: { meter: 'requests', units: 500, reason: 'Launch', priority: 100, expiresAt: '2099-12-01T00:00:00.000Z' },
    errors: {},
  });
});

it('reads wall clocks in the tenant’s zone, and has no end where it lasts until it is spent', async () => {
  expect(grantEndOf({ ending: 'at', endsAt: '2099-11-20T12:00' }, POLICY)).toBe('2099-11-20T11:00:00.000Z');
  expect((await resolve({ ending: 'spent' })).values).not.toHaveProperty('expiresAt');
  expect((await resolve({ startsAt: '2099-11-10T00:00' })).values).toMatchObject({ from: '2099-11-09T23:00:00.000Z' });
});

it.each<[Partial<GrantValues>, keyof GrantValues]>([
  [{ units: '' }, 'units'],
  [{ units: 0 }, 'units'],
  [{ units: '9007199254740993' }, 'units'],
  [{ reason: 'x' }, 'reason'],
  [{ priority: 256 }, 'priority'],
  [{ ending: 'at', endsAt: '' }, 'endsAt'],
  [{ startsAt: '2099-12-02T00:00' }, 'endsAt'],
  [{ ending: 'at', endsAt: '2020-01-01T00:00' }, 'endsAt'],
])('refuses %j at its field', async (more, field) => {
  expect(Object.keys((await resolve(more)).errors)).toEqual([field]);
});
