import type { TierContent } from '@quotaplane/contracts';
import { expect, it } from 'vitest';
import { policySourceAt, policySourceOf, type AssignmentRow, type OverrideRow, type PolicyRows } from './policy-source';

const NOON = Date.UTC(2026, 10, 20, 12);
const HOUR_MS = 3_600_000;
const at = (hours: number): Date => new Date(NOON + hours * HOUR_MS);
const PERIOD = { id: '2026-11-01', startMs: Date.UTC(2026, 10, 1), endMs: Date.UTC(2026, 11, 1) };
const CONTENT: TierContent = { limits: [], concurrency: null, quotas: [], degraded: 'waive' };

const assignment = (slug: string, effectiveAt: Date, createdAt: Date): AssignmentRow => ({
  effectiveAt,
  createdAt,
  usage: 'carry',
  tier: { slug, weight: 1, versions: [{ number: 1, content: CONTENT, effectiveAt: at(-1000), publishedAt: at(-1000) }] },
});
const override = (from: Date, updatedAt: Date): OverrideRow =>
  ({ id: 'o', mode: 'at-least', set: { concurrency: 1 }, from, until: null, createdAt: updatedAt, updatedAt });
const rows = (part: Partial<PolicyRows>): PolicyRows => ({ tenant: 'acme', status: 'active', revision: 3, assignments: [], overrides: [], ...part });

it('names no instant for what was in force when written, so that a store whose clock is behind does not delay it', () => {
  const source = policySourceOf(rows({ assignments: [assignment('free', at(-2), at(-2))], overrides: [override(at(-1), at(-1))] }), [PERIOD]);
  expect(source.tiers.map(({ slug, fromMs }) => [slug, fromMs])).toEqual([['free', null]]);
  expect(source.overrides[0]?.fromMs).toBeNull();
});

it('keeps the instant of a scheduled entry, also once it has come', () => {
  const source = policySourceOf(rows({ assignments: [assignment('free', at(-9), at(-9)), assignment('pro', at(-1), at(-5))], overrides: [override(at(2), at(-1))] }), [PERIOD]);
  expect(source.tiers.map(({ slug, fromMs }) => [slug, fromMs])).toEqual([['free', null], ['pro', at(-1).getTime()]]);
  expect(source.overrides[0]?.fromMs).toBe(at(2).getTime());
});

it('drops a scheduled tier that an immediate change has overtaken', () => {
  const source = policySourceOf(rows({ assignments: [assignment('pro', at(-3), at(-5)), assignment('free', at(-1), at(-1))] }), [PERIOD]);
  expect(source.tiers.map(({ slug }) => slug)).toEqual(['free']);
});

it('looks back at the tier and the overrides that stood at an instant', () => {
  const source = policySourceAt(
    rows({ assignments: [assignment('free', at(-9), at(-9)), assignment('pro', at(-1), at(-1))], overrides: [override(at(-1), at(-1))] }),
    PERIOD,
    at(-5),
  );
  expect(source?.tiers[0]?.slug).toBe('free');
  expect(source?.overrides).toEqual([]);
});
