import { describe, expect, it } from 'vitest';
import { overrideCreate, type TenantPolicy } from '@quotaplane/contracts';
import { complaintOf, endOf, initialValues, proposalsOf, raiseResolver, toOverride, type RaiseValues } from './raise-values';

const NOW_MS = Date.parse('2026-11-30T12:00:00Z');
const POLICY: TenantPolicy = {
  tenant: 'hobby',
  revision: 3,
  tier: 'free',
  tierVersion: 1,
  fromMs: 0,
  untilMs: 1,
  timezone: 'Europe/Berlin',
  period: { id: '2026-11-01', startMs: Date.parse('2026-10-31T23:00:00Z'), endMs: Date.parse('2026-11-30T23:00:00Z') },
  limits: [
    {
      name: 'per-minute',
      algorithm: 'token-bucket',
      scope: 'tenant',
      limit: 100,
      windowMs: 60_000,
      burst: 20,
      mode: 'enforce',
      sources: { limit: 'tier:free@1', burst: 'tier:free@1' },
    },
    {
      name: 'hourly',
      algorithm: 'fixed-window',
      scope: 'user',
      limit: 500,
      windowMs: 3_600_000,
      burst: null,
      mode: 'enforce',
      sources: { limit: 'tier:free@1', burst: 'tier:free@1' },
    },
  ],
  concurrency: { limit: 10, source: 'tier:free@1' },
  quotas: [{ meter: 'requests', allowance: 1_000_000, overage: 'reject', sources: { allowance: 'tier:free@1' } }],
  upcoming: [],
  dangling: [],
  subjects: { key: 0, user: 0, ip: 0 },
};

function proposing(change: (values: RaiseValues) => void): RaiseValues {
  const values = structuredClone({ ...initialValues(POLICY), reason: 'Launch day' });
  change(values);
  return values;
}
const perMinute = (values: RaiseValues): { limit: number | null; burst: number | null } =>
  values.set.limits['per-minute'] ?? { limit: null, burst: null };
const override = (values: RaiseValues) => toOverride(values, 'hobby', POLICY, NOW_MS);
const errorsOf = async (values: RaiseValues): Promise<object> => {
  const answer = await raiseResolver('hobby', POLICY)(values, undefined, { fields: {}, shouldUseNativeValidation: false });
  return answer.errors;
};

describe('an override of one subject', () => {
  const forUser = (id: string) => proposing((values) => {
    Object.assign(values, { subject: { scope: 'user', id } });
    const hourly = values.set.limits['hourly'];
    if (hourly) hourly.limit = 900;
    perMinute(values).limit = 900;
    Object.assign(values.set, { concurrency: 900 });
  });

  it('names limits of its own scope only, whatever else was typed before', () => {
    expect(override(forUser('ann'))).toMatchObject({ subject: { scope: 'user', id: 'ann' }, set: { limits: { hourly: { limit: 900 } } } });
    expect(Object.keys(override(forUser('ann')).set)).toEqual(['limits']);
    expect(proposalsOf(forUser('ann'), POLICY).map(({ name }) => name)).toEqual(['hourly']);
  });

  it('wants the subject to be named', async () => {
    expect(await errorsOf(forUser(' '))).toMatchObject({ subject: { id: { message: 'Name the key, user or address' } } });
    expect(await errorsOf(forUser('ann'))).toEqual({});
  });
});

describe('what is sent', () => {
  it('names the burst alone when only the burst was changed', () => {
    expect(override(proposing((values) => void (perMinute(values).burst = 60))).set).toEqual({ limits: { 'per-minute': { burst: 60 } } });
  });

  it('spells out the burst that stays, for an omitted one would follow the new limit', () => {
    expect(override(proposing((values) => void (perMinute(values).limit = 300))).set).toEqual({
      limits: { 'per-minute': { limit: 300, burst: 20 } },
    });
  });

  it('gives no burst to a window', () => {
    expect(override(proposing((values) => void Object.assign(values.set.limits['hourly'] ?? {}, { limit: 900 }))).set).toEqual({
      limits: { hourly: { limit: 900 } },
    });
  });

  it('ends by itself in 24 h unless told otherwise', () => {
    expect(override(proposing(() => undefined)).until).toBe('2026-12-01T12:00:00.000Z');
    expect(override({ ...proposing(() => undefined), ending: 'never' })).not.toHaveProperty('until');
  });

  it('counts the end from a later start', () => {
    expect(endOf({ ending: '1h', endsAt: '', startsAt: '2026-12-01T09:00' }, POLICY, NOW_MS)).toBe('2026-12-01T09:00:00.000Z');
  });

  it('is a body the contract takes', () => {
    const values = { ...proposing((each) => void (perMinute(each).limit = null)), ticket: 'SUP-1', mode: 'exactly' as const };
    expect(overrideCreate.parse(override(values))).toMatchObject({
      set: { limits: { 'per-minute': { limit: null } } },
      ticket: 'SUP-1',
      mode: 'exactly',
    });
  });
});

describe('what is reviewed', () => {
  it('shows each number that differs and no other', () => {
    expect(
      proposalsOf(
        proposing((values) => void (perMinute(values).burst = 60)),
        POLICY,
      ),
    ).toEqual([{ kind: 'burst', name: 'per-minute', windowMs: 60_000, current: 20, source: 'tier:free@1', proposed: 60 }]);
  });
});

describe('what is refused', () => {
  it('an emptied field, which must never mean unlimited', async () => {
    expect(await errorsOf(proposing((values) => void (perMinute(values).burst = Number.NaN)))).toMatchObject({
      set: { limits: { 'per-minute': { burst: { message: 'Enter whole units' } } } },
    });
  });

  it('a form in which nothing was changed', async () => {
    expect(await errorsOf(proposing(() => undefined))).toMatchObject({ set: { root: { message: 'Change at least one number' } } });
  });

  it('a raise without a reason', async () => {
    expect(await errorsOf({ ...proposing((values) => void (perMinute(values).burst = 60)), reason: ' ' })).toMatchObject({
      reason: { message: 'Say why, in 3 to 500 characters' },
    });
  });

  it('lowering by "at least", which would change nothing', async () => {
    const lowered = proposing((values) => void (perMinute(values).burst = 10));
    expect(await errorsOf(lowered)).toMatchObject({ set: { root: { message: expect.stringContaining('Nothing would change') as string } } });
    expect(await errorsOf({ ...lowered, mode: 'exactly' })).toEqual({});
  });

  it('not "at least" below another override, for it takes effect once that one ends', () => {
    const [lowered] = proposalsOf(
      proposing((values) => void (perMinute(values).burst = 10)),
      POLICY,
    );
    expect(lowered && complaintOf([{ ...lowered, source: 'override:7d0e2a4c' }], 'at-least')).toBeUndefined();
  });

  it('a negative number, by name', async () => {
    expect(await errorsOf(proposing((values) => void (perMinute(values).limit = -5)))).toMatchObject({
      set: { limits: { 'per-minute': { limit: { message: 'Enter 0 or more: negative numbers are refused' } } } },
    });
  });

  it('an end that has passed', async () => {
    expect(await errorsOf({ ...proposing((values) => void (perMinute(values).burst = 60)), ending: 'at', endsAt: '2020-01-01T00:00' })).toMatchObject(
      { endsAt: { message: 'It would end before it begins' } },
    );
  });
});
