import type { ClassCatalogue, CompiledLimit, CompiledQuota, Policy, TenantStatus } from '@quotaplane/contracts';
import type { PolicyPublisher } from '@quotaplane/policy';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** A compiled limit, `per-minute` 100 with burst 20 by tenant unless told otherwise. */
export const limitOf = (parts: Partial<CompiledLimit> = {}): CompiledLimit => ({
  name: 'per-minute', algorithm: 'token-bucket', scope: 'tenant', limit: 100, windowMs: 60_000,
  burst: parts.algorithm === 'fixed-window' ? null : 20, mode: 'enforce', sources: { limit: 'tier:free@1', burst: 'tier:free@1' }, ...parts,
});

export interface PolicyParts {
  readonly tenant?: string;
  readonly revision?: number;
  readonly status?: TenantStatus;
  readonly limits?: readonly CompiledLimit[];
  readonly quotas?: readonly Omit<CompiledQuota, 'sources'>[];
  /** Calls in flight; null, the default, is unlimited. */
  readonly concurrency?: number | null;
  readonly subjectScopes?: Policy['subjectScopes'];
}

/** A policy of one segment around now, in a period of 30 days. */
export const policyOf = ({ tenant = 'hobby', revision = 1, status = 'active', limits = [limitOf()], quotas = [], concurrency = null, subjectScopes }: PolicyParts = {}): Policy => {
  const nowMs = Date.now();
  const startMs = nowMs - 10 * DAY_MS;
  return {
    v: 1, tenant, revision, status, ...(subjectScopes ? { subjectScopes } : {}),
    segments: [{
      fromMs: nowMs - HOUR_MS, untilMs: nowMs + 20 * DAY_MS, tier: 'free', tierVersion: 1, weight: 1, degraded: 'bill', limits: [...limits],
      concurrency: { limit: concurrency, source: 'tier:free@1' }, quotas: quotas.map((quota) => ({ ...quota, sources: { allowance: 'tier:free@1' } })),
      period: { id: '2026-11-01', startMs, endMs: startMs + 30 * DAY_MS }, part: 1,
    }],
  };
};

/** The classes that the specs' services use. */
export const catalogueOf = (revision = 1): ClassCatalogue => {
  const base = { cost: 1, meter: 'requests', failMode: 'local', refundOn: [] } as const;
  return {
    v: 1, revision,
    classes: {
      default: { ...base, refundOn: [] },
      search: { ...base, cost: 10, refundOn: [] },
      bulk: { ...base, refundOn: [] },
      open: { ...base, failMode: 'open', refundOn: [] },
      login: { ...base, failMode: 'closed', refundOn: [] },
      free: { ...base, cost: 0, refundOn: [] },
    },
  };
};

/** Publishes a tenant's policy in generation 1. */
export const publish = (publisher: PolicyPublisher, parts: PolicyParts): Promise<unknown> =>
  publisher.publishTenant({ policy: policyOf(parts), generation: 1, changeId: `change-${parts.tenant ?? 'hobby'}-${parts.revision ?? 1}` });
