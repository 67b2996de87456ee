import type { CompiledPeriod, CompiledQuota, DegradedSettlement } from '@quotaplane/contracts';
import { quotasAt } from '@quotaplane/policy';
import { settle, type UsageSums } from '@quotaplane/usage';
import type { TenantPolicyRows } from '../outbox/policy-rows';
import { policySourceAt, type TierRow } from '../outbox/policy-source';
import type { PartFigures } from './meter-figures';

/** What counts at the end of one part of a period: its last word on allowances and settlement. */
export interface PartRules {
  readonly part: number;
  readonly tier: string;
  readonly tierVersion: number;
  readonly degraded: DegradedSettlement;
  readonly quotas: readonly CompiledQuota[];
}

/**
 * The rules of each part of a period as far as `instant`, at least one: a tier change with `restart` ends a part, and the rules of its last ms hold
 * for all of it, as the guard's last segment did.
 */
export function partRulesOf(tenant: TenantPolicyRows, period: CompiledPeriod, instant: Date): readonly PartRules[] {
  const lastMs = Math.max(period.startMs, Math.min(instant.getTime(), period.endMs - 1));
  const tier = plainTierOf(tenant, lastMs);
  if (tier === undefined) return workOut(tenant, period, lastMs);
  const ofTier = known.get(tier) ?? new Map<string, readonly PartRules[]>();
  known.set(tier, ofTier);
  const key = `${period.startMs} ${period.endMs} ${lastMs}`;
  const rules = ofTier.get(key) ?? workOut(tenant, period, lastMs);
  ofTier.set(key, rules);
  return rules;
}

/** Tenants that were read together share their tier's row; as good as all of a fold's have the same rules. */
const known = new WeakMap<TierRow, Map<string, readonly PartRules[]>>();

/** The tier in force of a tenant that has nothing of its own: no move that touches its quotas, no override that may, no top-up and no carried unit. */
function plainTierOf({ assignments, overrides, quotas: { grants, carries } }: TenantPolicyRows, atMs: number): TierRow | undefined {
  if (grants.length > 0 || carries.length > 0 || assignments.some(({ usage }) => usage !== 'carry') || overrides.some(({ set }) => set.quotas !== undefined)) return undefined;
  const inForce = assignments.filter(({ effectiveAt }) => effectiveAt.getTime() <= atMs);
  return (inForce.length === 0 ? assignments[0] : inForce.reduce((latest, one) => (one.effectiveAt > latest.effectiveAt ? one : latest)))?.tier;
}

function workOut(tenant: TenantPolicyRows, period: CompiledPeriod, lastMs: number): PartRules[] {
  const restarts = tenant.assignments
    .filter(({ usage, effectiveAt }) => usage === 'restart' && effectiveAt.getTime() > period.startMs && effectiveAt.getTime() <= lastMs)
    .map(({ effectiveAt }) => effectiveAt.getTime())
    .sort((a, b) => a - b);
  return [...restarts.map((atMs) => atMs - 1), lastMs].map((atMs, index) => rulesAt(tenant, period, atMs, index + 1));
}

function rulesAt(tenant: TenantPolicyRows, period: CompiledPeriod, atMs: number, part: number): PartRules {
  const source = policySourceAt(tenant, period, new Date(atMs));
  const segment = source && quotasAt(source, atMs);
  if (!segment) return { part, tier: '', tierVersion: 0, degraded: 'waive', quotas: [] };
  return { part, tier: segment.tier, tierVersion: segment.tierVersion, degraded: segment.degraded, quotas: segment.quotas };
}

/** What a part's rules say of one meter. A meter without a quota is unlimited and bills nothing. */
interface MeterRules extends Pick<PartFigures, 'allowance' | 'overagePolicy' | 'carried' | 'granted'> {
  /** As `settle` takes them. */
  readonly rules: Parameters<typeof settle>[1];
}

/** Worked out once for all tenants that share the rules. */
const knownMeters = new WeakMap<PartRules, Map<string, MeterRules>>();

function meterRulesOf(part: PartRules, meter: string): MeterRules {
  const ofPart = knownMeters.get(part) ?? new Map<string, MeterRules>();
  knownMeters.set(part, ofPart);
  const known = ofPart.get(meter);
  if (known !== undefined) return known;
  const quota = part.quotas.find((candidate) => candidate.meter === meter);
  const allowance = quota === undefined || quota.allowance === null ? null : BigInt(quota.allowance);
  const overagePolicy = quota?.overage ?? 'reject';
  const made = {
    allowance, overagePolicy, carried: extraUnits(quota, 'carry'), granted: extraUnits(quota, 'top-up'),
    rules: { settlement: part.degraded, allowance, overage: overagePolicy },
  };
  ofPart.set(meter, made);
  return made;
}

const extraUnits = (quota: CompiledQuota | undefined, kind: 'carry' | 'top-up'): bigint =>
  (quota?.extras ?? []).filter(({ source }) => source.startsWith(`${kind}:`)).reduce((sum, { units }) => sum + BigInt(units), 0n);

/** One meter's part, settled. */
export function settlePart(part: PartRules, meter: string, sums: UsageSums): PartFigures {
  const { allowance, overagePolicy, carried, granted, rules } = meterRulesOf(part, meter);
  const settled = settle(sums, rules);
  // By name: spread, a million of them would be slow to make and slow to read.
  return {
    part: part.part, tier: part.tier, tierVersion: part.tierVersion, allowance, carried, granted, overagePolicy, settlement: part.degraded,
    admitted: settled.admitted, refunded: settled.refunded, degraded: settled.degraded, external: settled.external, late: settled.late,
    corrections: settled.corrections, recovered: settled.recovered, settled: settled.settled, used: settled.used, overage: settled.overage, billable: settled.billable,
  };
}
