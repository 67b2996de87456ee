import type { Limit, TierContent } from '@quotaplane/contracts';
import { describe, expect, it } from 'vitest';
import { danglingLimits, overrideFits } from './override-check';
import type { OverrideSource } from './source';

const perMinute: Limit = { name: 'per-minute', algorithm: 'token-bucket', scope: 'tenant', limit: 100, windowMs: 60_000, mode: 'enforce' };
const perDay: Limit = { name: 'per-day', algorithm: 'fixed-window', scope: 'tenant', limit: 100, windowMs: 86_400_000, mode: 'enforce' };
const content: TierContent = { limits: [perMinute, perDay], concurrency: null, quotas: [], degraded: 'waive' };
const LARGEST = Math.floor(Number.MAX_SAFE_INTEGER / 60_000);

describe('overrideFits', () => {
  it('accepts the largest capacity that stays exact and refuses the next', () => {
    expect(overrideFits({ limits: { 'per-minute': { limit: LARGEST } } }, content)).toEqual([]);
    expect(overrideFits({ limits: { 'per-minute': { limit: LARGEST + 1 } } }, content)).toMatchObject([{ kind: 'beyond-exact', path: ['limits', 'per-minute', 'limit'] }]);
    expect(overrideFits({ limits: { 'per-minute': { burst: LARGEST + 1 } } }, content)).toMatchObject([{ kind: 'beyond-exact', path: ['limits', 'per-minute', 'burst'] }]);
    expect(overrideFits({ limits: { 'per-minute': { limit: LARGEST + 1, burst: 5 } } }, content)).toEqual([]);
  });

  it('names limits and meters that the tier lacks, also those called like parts of every object', () => {
    expect(overrideFits({ limits: { constructor: { limit: 1 } }, quotas: { exports: { allowance: 1 } } }, content).map(({ kind, path }) => [kind, ...path]))
      .toEqual([['unknown-limit', 'limits', 'constructor'], ['unknown-quota', 'quotas', 'exports']]);
  });

  it('refuses a burst on a window and takes any limit there', () => {
    expect(overrideFits({ limits: { 'per-day': { burst: 5 } } }, content)).toMatchObject([{ kind: 'burst-on-window' }]);
    expect(overrideFits({ limits: { 'per-day': { limit: Number.MAX_SAFE_INTEGER } } }, content)).toEqual([]);
  });

  // Mutation: check buckets alone, and a log of 10,001 entries or a debt that is not exact gets past the save.
  it('holds logs, sliding counters and queues to the bounds of their tier limits', () => {
    const misfitsOf = (more: Partial<Limit>, limit: number): string[] =>
      overrideFits({ limits: { 'per-minute': { limit } } }, { ...content, limits: [{ ...perMinute, ...more }] }).map(({ kind, path }) => [kind, ...path].join('/'));
    expect(misfitsOf({ algorithm: 'sliding-log' }, 10_000)).toEqual([]);
    expect(misfitsOf({ algorithm: 'sliding-log' }, 10_001)).toEqual(['beyond-log/limits/per-minute/limit']);
    for (const algorithm of ['sliding-counter', 'leaky-bucket'] as const) {
      expect(misfitsOf({ algorithm }, LARGEST)).toEqual([]);
      expect(misfitsOf({ algorithm }, LARGEST + 1)).toEqual(['beyond-exact/limits/per-minute/limit']);
    }
    // A queue of its own size does not grow with the limit.
    expect(misfitsOf({ algorithm: 'leaky-bucket', maxQueue: 5 }, LARGEST + 1)).toEqual([]);
  });
});

describe('danglingLimits', () => {
  const bare: TierContent = { ...content, limits: [perMinute] };
  const tierOf = (slug: string, fromMs: number | null, tierContent: TierContent) => ({ fromMs, slug, weight: 1, versions: [{ number: 1, effectiveMs: null, content: tierContent }] });
  const raise: OverrideSource = { id: 'o1', mode: 'at-least', set: { limits: { 'per-day': { limit: 5 } } }, fromMs: null, untilMs: null, createdMs: 1 };
  const source = { tiers: [tierOf('pro', null, content), tierOf('free', 1_000, bare)], overrides: [raise] };

  it('shows an override whose limit a tier change has left behind, from then on', () => {
    expect(danglingLimits(source, 999)).toEqual([]);
    expect(danglingLimits(source, 1_000)).toEqual([{ overrideId: 'o1', limits: ['per-day'], quotas: [] }]);
  });

  it('looks at the tier of its start for one to come, and at none that has ended', () => {
    expect(danglingLimits({ ...source, overrides: [{ ...raise, fromMs: 2_000 }] }, 500)).toHaveLength(1);
    expect(danglingLimits({ ...source, overrides: [{ ...raise, untilMs: 1_500 }] }, 1_500)).toEqual([]);
  });
});
