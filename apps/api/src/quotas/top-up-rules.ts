import { MAX_EXACT, type FieldError, type TopUpState } from '@quotaplane/contracts';
import { quotasAt } from '@quotaplane/policy';
import type { TenantPolicyRows } from '../outbox/policy-rows';
import { policySourceOf } from '../outbox/policy-source';
import { tenantPeriods } from '../tenants/tenant-calendar';
import { carryCaps } from './quota-work';
import { grantEndMs, type GrantRow } from './quota-rows';

/** A top-up starts within a year, ms. */
const FROM_AHEAD_MS = 366 * 86_400_000;

/** What is asked for. */
export interface AskedTopUp {
  readonly meter: string;
  readonly units: number;
  readonly from: Date;
  readonly expiresAt: Date | null;
}

/** By the clock and by what was drawn. */
export const topUpStateAt = (row: Pick<GrantRow, 'from' | 'expiresAt' | 'withdrawnAt' | 'units'>, drawn: number, now: Date): TopUpState => {
  if (row.withdrawnAt !== null) return 'withdrawn';
  if (drawn >= row.units) return 'spent';
  if (row.expiresAt !== null && row.expiresAt <= now) return 'expired';
  return row.from > now ? 'scheduled' : 'active';
};

/** What keeps a top-up from being granted, with pointers into the body; empty when it fits. */
export function topUpErrors(rows: TenantPolicyRows, { meter, units, from, expiresAt }: AskedTopUp, at: Date): FieldError[] {
  return [
    ...(from.getTime() > at.getTime() + FROM_AHEAD_MS ? [{ pointer: '/from', detail: 'must be within a year from now' }] : []),
    ...(expiresAt !== null && expiresAt <= at ? [{ pointer: '/expiresAt', detail: 'must be in the future' }] : []),
    ...(expiresAt !== null && expiresAt > at && expiresAt <= from ? [{ pointer: '/expiresAt', detail: 'must be after from' }] : []),
    ...quotaErrors(rows, meter, units, at),
  ];
}

function quotaErrors(rows: TenantPolicyRows, meter: string, units: number, at: Date): FieldError[] {
  const nowMs = at.getTime();
  const source = policySourceOf({ ...rows, revision: Math.max(rows.revision, 1) }, tenantPeriods(rows, { nowMs, before: 1, after: 1 }));
  if (source.tiers.length === 0) return [{ pointer: '/meter', detail: 'the tenant has no published tier' }];
  const { quotas, tier } = quotasAt(source, nowMs);
  const quota = quotas.find((candidate) => candidate.meter === meter);
  if (!quota) return [{ pointer: '/meter', detail: `the tenant's tier ${tier} has no quota for meter ${meter}` }];
  if (quota.allowance === null) return [{ pointer: '/meter', detail: `is unlimited for this tenant; a top-up would change nothing` }];
  const extras = (quota.extras ?? []).reduce((sum, extra) => sum + BigInt(extra.units), 0n);
  const caps = carryCaps(rows, tenantPeriods(rows, { nowMs, before: 0, after: 0 })[0]?.endMs ?? nowMs);
  const granted = rows.quotas.grants.filter((grant) => grant.meter === meter && grantEndMs(grant) > nowMs).reduce((sum, grant) => sum + BigInt(grant.units), 0n);
  const total = BigInt(quota.allowance) - extras + BigInt(caps.find((cap) => cap.meter === meter)?.cap ?? 0) + granted + BigInt(units);
  return total > BigInt(MAX_EXACT) ? [{ pointer: '/units', detail: 'allowance and top-ups together must not pass 2^53-1; use fewer units' }] : [];
}
