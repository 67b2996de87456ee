import { Inject, Injectable } from '@nestjs/common';
import { NODE_ALIVE_MS, type CompiledPeriod, type DegradedSettlement, type UsageItem } from '@quotaplane/contracts';
import { compile, segmentAt } from '@quotaplane/policy';
import { periodAt, periodsAround, settle } from '@quotaplane/usage';
import { Clock } from '../config/clock';
import { PrismaService } from '../database/prisma.service';
import { readPolicyRows, type TenantPolicyRows } from '../outbox/policy-rows';
import { policySourceAt } from '../outbox/policy-source';
import { readAsOf } from './fold-sql';
import type { TenantPeriod } from './meter-figures';
import { readUsageSums } from './usage-sql';

/** `current`: the running periods; `2026-11`: those that start in that month. */
export type PeriodSelector = string;

/** An item with the rule that settled what was admitted without the store. */
export interface SettledItem {
  readonly item: UsageItem;
  readonly settlement: DegradedSettlement;
}

const NOTHING = { admitted: 0n, refunded: 0n, degraded: 0n };

/** The bill's own reading of the ledger: every tenant, meter and period with its figures, settled by the rules that held. */
@Injectable()
export class UsageLedger {
  constructor(@Inject(PrismaService) private readonly prisma: PrismaService, @Inject(Clock) private readonly clock: Clock) {}

  /** Up to when everything journaled is in the figures. */
  async asOf(): Promise<string> {
    return ((await readAsOf(this.prisma, NODE_ALIVE_MS)) ?? new Date(this.clock.now())).toISOString();
  }

  /** Figures of some tenants, sorted by tenant, period and meter. Deleted tenants appear where they have used something. */
  async itemsOf(slugs: readonly string[], selector: PeriodSelector, asOf: string): Promise<UsageItem[]> {
    return (await this.settledItemsOf(slugs, selector, asOf)).map(({ item }) => item);
  }

  async settledItemsOf(slugs: readonly string[], selector: PeriodSelector, asOf: string): Promise<SettledItem[]> {
    const now = new Date(this.clock.now());
    const tenants = await readPolicyRows(this.prisma, slugs, { overrides: 'all', now });
    const periods = await this.periodsOf(tenants, selector);
    const ids = [...new Set([...periods.values()].flat().map(({ id }) => id))];
    const sums = new Map((await readUsageSums(this.prisma, slugs, ids)).map((row) => [`${row.tenant}|${row.periodId}|${row.meter}`, row]));
    return tenants.flatMap((tenant) => (periods.get(tenant.tenant) ?? []).flatMap((period) => {
      const used = [...sums.values()].filter((row) => row.tenant === tenant.tenant && row.periodId === period.id);
      if (tenant.deletedAt !== null && used.length === 0) return [];
      const rules = rulesOf(tenant, period, now);
      const meters = [...new Set([...rules.quotas.map(({ meter }) => meter), ...used.map(({ meter }) => meter)])].sort();
      return meters.map((meter) => ({
        item: itemOf(tenant.tenant, meter, period, sums.get(`${tenant.tenant}|${period.id}|${meter}`) ?? NOTHING, rules, now, asOf),
        settlement: rules.degraded,
      }));
    }));
  }

  private async periodsOf(tenants: readonly TenantPolicyRows[], selector: PeriodSelector): Promise<ReadonlyMap<string, TenantPeriod[]>> {
    const nowMs = this.clock.now();
    if (selector === 'current') {
      return new Map(tenants.map(({ tenant, timezone, anchorDay }) => [tenant, [{ ...periodAt({ timezone, anchorDay, nowMs }), timezone }]]));
    }
    const recorded = await this.prisma.usagePeriod.findMany({
      where: { tenant: { in: tenants.map(({ tenant }) => tenant) }, periodId: { startsWith: `${selector}-` } },
    });
    return new Map(tenants.map((tenant) => {
      const counted = recorded.filter((row) => row.tenant === tenant.tenant)
        .map(({ periodId, startAt, endAt, timezone }) => ({ id: periodId, startMs: startAt.getTime(), endMs: endAt.getTime(), timezone }));
      const computed = calendarOf(tenant, selector).filter((period) => period.startMs <= nowMs && period.endMs > tenant.createdAt.getTime() &&
        !counted.some((other) => other.startMs < period.endMs && period.startMs < other.endMs));
      return [tenant.tenant, [...counted, ...computed].sort((a, b) => a.startMs - b.startMs)];
    }));
  }
}

/** Periods of a tenant's present calendar that start in a month. */
const calendarOf = ({ timezone, anchorDay }: TenantPolicyRows, month: string): TenantPeriod[] =>
  periodsAround({ timezone, anchorDay, nowMs: Date.parse(`${month}-15T12:00:00Z`), before: 1, after: 1 })
    .filter(({ id }) => id.startsWith(`${month}-`)).map((period) => ({ ...period, timezone }));

/** Quotas and settlement in force now, or at the last instant of a period that has ended. */
const rulesOf = (tenant: TenantPolicyRows, period: CompiledPeriod, now: Date) => {
  const instantMs = Math.max(period.startMs, Math.min(now.getTime(), period.endMs - 1));
  const source = policySourceAt(tenant, period, new Date(instantMs));
  const segment = source && segmentAt(compile(source), instantMs);
  return { quotas: segment?.quotas ?? [], degraded: segment?.degraded ?? 'waive' } as const;
};

const itemOf = (
  tenant: string,
  meter: string,
  period: TenantPeriod,
  sums: typeof NOTHING,
  rules: ReturnType<typeof rulesOf>,
  now: Date,
  asOf: string,
): UsageItem => {
  const quota = rules.quotas.find((candidate) => candidate.meter === meter);
  const allowance = quota?.allowance ?? null;
  const settled = settle(sums, {
    settlement: rules.degraded, allowance: allowance === null ? null : BigInt(allowance), overage: quota?.overage ?? 'reject',
  });
  return {
    tenant,
    meter,
    period: { id: period.id, start: new Date(period.startMs).toISOString(), end: new Date(period.endMs).toISOString(), timezone: period.timezone },
    status: period.endMs <= now.getTime() ? 'ended' : 'open',
    used: String(settled.used),
    allowance: allowance === null ? null : String(allowance),
    carried: '0',
    granted: '0',
    remaining: allowance === null ? null : String(BigInt(allowance) > settled.used ? BigInt(allowance) - settled.used : 0n),
    overage: String(settled.overage),
    billable: String(settled.billable),
    breakdown: {
      admitted: String(sums.admitted), refunded: String(sums.refunded), degraded: String(sums.degraded), settled: String(settled.settled),
      external: '0', late: '0', recovered: '0', corrections: '0',
    },
    thresholds: [],
    asOf,
  };
};
