import { describe, expect, it } from 'vitest';
import { ALGORITHMS, limitSchema, tierContentSchema } from './limits';
import { MAX_EXACT } from './numbers';

const limit = { name: 'per-minute', algorithm: 'token-bucket', scope: 'tenant', limit: 100, windowMs: 60_000 } as const;
const penalty = { strikes: 10, withinMs: 60_000, banMs: 60_000 };
const faultsOf = (input: unknown): string[] => {
  const parsed = limitSchema.safeParse(input);
  return parsed.success ? [] : parsed.error.issues.map((issue) => issue.path.join('/') || issue.code);
};

describe('limitSchema', () => {
  // Mutation: windowMs with min(0).
  it('C043 takes limit 0 and refuses window 0 by name', () => {
    expect(faultsOf({ ...limit, limit: 0 })).toEqual([]);
    expect(faultsOf({ ...limit, windowMs: 0 })).toEqual(['windowMs']);
  });

  it('takes every algorithm with its own fields', () => {
    for (const algorithm of ALGORITHMS) expect(faultsOf({ ...limit, algorithm })).toEqual([]);
    expect(faultsOf({ ...limit, algorithm: 'leaky-bucket', maxQueue: 0, maxWaitMs: 0 })).toEqual([]);
    expect(faultsOf({ ...limit, mode: 'shadow' })).toEqual([]);
    expect(faultsOf({ ...limit, penalty })).toEqual([]);
  });

  it('takes a name that only begins like that of a quota', () => {
    expect(faultsOf({ ...limit, name: 'monthly' })).toEqual([]);
  });

  // Mutation: compare capacity x windowMs as numbers.
  it('refuses a bucket whose debt would pass 2^53-1, at the very unit', () => {
    const widest = Math.floor(MAX_EXACT / 60_000);
    expect(faultsOf({ ...limit, burst: widest })).toEqual([]);
    expect(faultsOf({ ...limit, burst: widest + 1 })).toEqual(['burst']);
    expect(faultsOf({ ...limit, limit: widest + 1 })).toEqual(['limit']);
  });

  it.each([
    [{ ...limit, windowMs: 86_400_001 }, 'windowMs'],
    [{ ...limit, limit: 1.5 }, 'limit'],
    [{ ...limit, limit: -1 }, 'limit'],
    [{ ...limit, limit: MAX_EXACT + 1 }, 'limit'],
    [{ ...limit, limit: '100' }, 'limit'],
    [{ ...limit, scope: 'subject:' }, 'scope'],
    [{ ...limit, alignment: 'epoch' }, 'alignment'],
    [{ ...limit, algorithm: 'fixed-window', burst: 5 }, 'burst'],
    [{ ...limit, algorithm: 'sliding-log', limit: 10_001 }, 'limit'],
    [{ ...limit, algorithm: 'sliding-counter', limit: Math.floor(MAX_EXACT / 60_000) + 1 }, 'limit'],
    [{ ...limit, algorithm: 'leaky-bucket', maxQueue: Math.floor(MAX_EXACT / 60_000) }, 'maxQueue'],
    [{ ...limit, algorithm: 'leaky-bucket', maxWaitMs: 60_001 }, 'maxWaitMs'],
    [{ ...limit, maxQueue: 5 }, 'maxQueue'],
    [{ ...limit, methods: ['GET', 'GET'] }, 'methods'],
    [{ ...limit, mode: 'shadow', penalty }, 'penalty'],
    [{ ...limit, scope: 'global', penalty }, 'penalty'],
    [{ ...limit, penalty: { ...penalty, maxBanMs: 1_000 } }, 'penalty/maxBanMs'],
    [{ ...limit, colour: 'red' }, 'unrecognized_keys'],
    [{ ...limit, name: 'month' }, 'name'],
    [{ ...limit, name: 'in-flight' }, 'name'],
    [{ ...limit, name: 'month-throttle' }, 'name'],
  ])('refuses %j at %s', (input, field) => {
    expect(faultsOf(input)).toContain(field);
  });
});

describe('tierContentSchema', () => {
  // Mutation: drop refuseTwins.
  it('C040 refuses two limits of one name, and two quotas of one meter', () => {
    const quota = { meter: 'requests', allowance: 1, overage: 'reject' };
    const parsed = tierContentSchema.safeParse({ limits: [limit, limit], quotas: [quota, quota] });
    expect(parsed.error?.issues.map((issue) => issue.path)).toEqual([['limits', 1, 'name'], ['quotas', 1, 'meter']]);
  });

  it('wants a lane exactly with overage throttle', () => {
    const content = (quota: object): boolean => tierContentSchema.safeParse({ limits: [], quotas: [{ meter: 'requests', allowance: 1, ...quota }] }).success;
    expect(content({ overage: 'throttle' })).toBe(false);
    expect(content({ overage: 'throttle', throttle: { limit: 1, windowMs: 1000 } })).toBe(true);
    expect(content({ overage: 'bill', throttle: { limit: 1, windowMs: 1000 } })).toBe(false);
  });
});
