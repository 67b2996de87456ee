import { tierContentSchema } from '@quotaplane/contracts';
import { expect, it } from 'vitest';
import { danglingNames, overrideSetErrors, overrideStateAt, spanErrors } from './override-rules';

const NOW = new Date(Date.UTC(2026, 10, 20, 12));
const inMinutes = (minutes: number): Date => new Date(NOW.getTime() + minutes * 60_000);
const content = tierContentSchema.parse({
  limits: [
    { name: 'per-minute', algorithm: 'token-bucket', scope: 'tenant', limit: 100, windowMs: 60_000, burst: 20 },
    { name: 'per-hour', algorithm: 'fixed-window', scope: 'tenant', limit: 1000, windowMs: 3_600_000 },
  ],
  quotas: [{ meter: 'requests', allowance: 10, overage: 'reject' }],
});

it('tells the state from the clock alone', () => {
  const span = { from: inMinutes(0), until: inMinutes(10), revertedAt: null };
  expect(overrideStateAt(span, inMinutes(-1))).toBe('scheduled');
  expect(overrideStateAt(span, inMinutes(0))).toBe('active');
  expect(overrideStateAt(span, inMinutes(10))).toBe('ended');
  expect(overrideStateAt({ ...span, revertedAt: inMinutes(1) }, inMinutes(2))).toBe('reverted');
});

it('points at each name the tier lacks and at a burst on a window', () => {
  const set = { limits: { 'per-day': { limit: 1 }, 'per-hour': { burst: 5 }, 'per-minute': { burst: 60 } }, quotas: { exports: { allowance: 1 } } };
  expect(overrideSetErrors(set, content, 'tenant').map(({ pointer }) => pointer)).toEqual(['/set/limits/per-day', '/set/limits/per-hour/burst', '/set/quotas/exports']);
  expect(danglingNames(set, content, 'tenant')).toEqual(['per-day', 'quotas/exports']);
});

// Mutation: skip the scope, and a single key could lift the whole tenant's limit.
it('lets a single subject change limits of its own scope and nothing that the tenant shares', () => {
  const withKeys = tierContentSchema.parse({ ...content, limits: [...content.limits, { name: 'per-key', algorithm: 'gcra', scope: 'key', limit: 10, windowMs: 1000 }] });
  expect(overrideSetErrors({ limits: { 'per-key': { limit: 20 } } }, withKeys, 'key')).toEqual([]);
  const set = { limits: { 'per-key': { limit: 1 }, 'per-minute': { limit: 1 } }, concurrency: 1, quotas: { requests: { allowance: 1 } } };
  expect(overrideSetErrors(set, withKeys, 'user').map(({ pointer }) => pointer))
    .toEqual(['/set/limits/per-minute', '/set/limits/per-key', '/set/concurrency', '/set/quotas']);
  expect(danglingNames({ limits: { 'per-minute': { limit: 1 } } }, withKeys, 'key')).toEqual(['per-minute']);
});

it('refuses what the compiler could not keep exact', () => {
  expect(overrideSetErrors({ limits: { 'per-minute': { burst: Number.MAX_SAFE_INTEGER } } }, content, 'tenant').length).toBe(1);
});

it('wants an end after the start and in the future', () => {
  expect(spanErrors({ from: inMinutes(0), until: null }, NOW)).toEqual([]);
  expect(spanErrors({ from: inMinutes(-9), until: inMinutes(0) }, NOW)[0]?.detail).toBe('must be in the future');
  expect(spanErrors({ from: inMinutes(9), until: inMinutes(9) }, NOW)[0]?.detail).toBe('must be after from');
});
