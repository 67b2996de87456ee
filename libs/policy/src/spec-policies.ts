import type { ClassCatalogue, KeyRecord, ListsDocument, Policy } from '@quotaplane/contracts';
import { compile } from './compile';

/** A small policy for specs: one token bucket `per-minute` in one period. */
export function specPolicy(tenant: string, revision: number, limit = 100): Policy {
  return compile({
    tenant,
    status: 'active',
    revision,
    tiers: [{
      fromMs: null, slug: 'free', weight: 1,
      versions: [{
        number: 1, effectiveMs: null,
        content: { limits: [{ name: 'per-minute', algorithm: 'token-bucket', scope: 'tenant', limit, windowMs: 60_000, mode: 'enforce' }], concurrency: null, quotas: [], degraded: 'waive' },
      }],
    }],
    overrides: [],
    periods: [{ id: '2026-01-01', startMs: Date.UTC(2026, 0, 1), endMs: Date.UTC(2026, 1, 1) }],
  });
}

export const specCatalogue = (revision: number, cost = 1): ClassCatalogue => ({
  v: 1, revision, classes: { search: { cost, meter: 'requests', failMode: 'local', refundOn: [] } },
});

export const specKey = (tenant: string): KeyRecord => ({ tenant, keyId: `key-of-${tenant}`, userId: null, kind: 'customer' });

export const specLists = (revision: number): ListsDocument => ({
  v: 1, revision, entries: [{ id: 'entry', list: 'deny', tenant: null, scope: 'ip', subject: '192.0.2.0/24', fromMs: null, untilMs: null }],
});
