import { Inject, Injectable } from '@nestjs/common';
import { NODE_ALIVE_MS, type DegradedSettlement, type UsageItem } from '@quotaplane/contracts';
import { NO_USAGE } from '@quotaplane/usage';
import { Clock } from '../config/clock';
import { PrismaService, type Tx } from '../database/prisma.service';
import { readPolicyRows, type TenantPolicyRows } from '../outbox/policy-rows';
import { tenantPeriodAt, tenantPeriods } from '../tenants/tenant-calendar';
import { readAsOf } from './fold-sql';
import type { MeterFigures, TenantPeriod } from './meter-figures';
import { partRulesOf, settlePart } from './part-rules';
import { readReached } from './reached-thresholds';
import { usageItemOf } from './usage-item';
import { readRecordedPeriods, readUsageSums, type UsageSumRow } from './usage-sql';

/** `current`: the running periods; `2026-11`: those that start in that month. */
export type PeriodSelector = string;

/** A period as it is listed; `isClosed` where it has its statement. */
export interface ListedPeriod extends TenantPeriod {
  readonly isClosed: boolean;
}

/** An item with the rule that settled what was admitted without the store. */
export interface SettledItem {
  readonly item: UsageItem;
  readonly settlement: DegradedSettlement;
}

export interface FiguresOptions {
  /** Transaction to read in. */
  readonly db?: PrismaService | Tx;
  /** Rules as of then; now when left out. An ended period has those of its last ms. */
  readonly instant?: Date;
  /** What `readUsageSums` says of these tenants and periods, where the caller knows it already. */
  readonly sums?: readonly UsageSumRow[];
  /** The only meter that is wanted. */
  readonly meter?: string;
}

/** The bill's own reading of the ledger: every tenant, meter and period with its figures, settled by the rules that held. */
@Injectable()
export class UsageLedger {
  constructor(@Inject(PrismaService) private readonly prisma: PrismaService, @Inject(Clock) private readonly clock: Clock) {}

  /** Up to when everything journaled is in the figures. */
  async asOf(): Promise<string> {
    return ((await readAsOf(this.prisma, NODE_ALIVE_MS)) ?? new Date(this.clock.now())).toISOString();
  }

  /** Figures of some tenants, sorted by tenant, period and meter. Deleted tenants appear where they have used something. */
  async itemsOf(slugs: readonly string[], selector: PeriodSelector, asOf: string, only?: { readonly meter: string }): Promise<UsageItem[]> {
    return (await this.settledItemsOf(slugs, selector, asOf, only)).map(({ item }) => item);
  }

  async settledItemsOf(slugs: readonly string[], selector: PeriodSelector, asOf: string, { meter: only }: { readonly meter?: string } = {}): Promise<SettledItem[]> {
    const now = new Date(this.clock.now());
    const tenants = await readPolicyRows(this.prisma, slugs, { overrides: 'quotas', now });
    const periods = await this.periodsOf(tenants, selector);
    const [figures, reached] = await Promise.all([
      this.figuresOf(tenants, periods, { instant: now, ...(only === undefined ? {} : { meter: only }) }),
      readReached(this.prisma, slugs, [...periods.values()].flat()),
    ]);
    return figures.map((meter) => {
      const period = periods.get(meter.tenant)?.find(({ id }) => id === meter.period.id);
      const status = period?.isClosed === true ? 'closed' : meter.period.endMs <= now.getTime() ? 'ended' : 'open';
      const item = usageItemOf(meter, { status, thresholds: reached(meter.tenant, meter.period.id, meter.meter), asOf });
      return { item, settlement: meter.parts.at(-1)?.settlement ?? 'waive' };
    });
  }

  /**
   * Settled figures of tenants' periods, sorted by tenant, period and meter: every meter that has a quota at the period's end, or was used. Of a deleted tenant
   * those alone that were used.
   */
  async figuresOf(
    tenants: readonly TenantPolicyRows[], periods: ReadonlyMap<string, readonly TenantPeriod[]>, { db = this.prisma, instant = new Date(this.clock.now()), sums, meter }: FiguresOptions = {},
  ): Promise<MeterFigures[]> {
    const rows = sums ?? await readUsageSums(db, tenants.map(({ tenant }) => tenant), [...periods.values()].flat().map(({ id }) => id), undefined, meter);
    const byPeriod = new Map<string, UsageSumRow[]>();
    for (const row of rows) {
      const key = `${row.tenant}|${row.periodId}`;
      const known = byPeriod.get(key);
      if (known) known.push(row);
      else byPeriod.set(key, [row]);
    }
    return [...tenants].sort((a, b) => (a.tenant < b.tenant ? -1 : 1)).flatMap((tenant) =>
      (periods.get(tenant.tenant) ?? []).flatMap((period) => metersOf(tenant, period, byPeriod.get(`${tenant.tenant}|${period.id}`) ?? [], { instant, meter })));
  }

  private async periodsOf(tenants: readonly TenantPolicyRows[], selector: PeriodSelector): Promise<ReadonlyMap<string, readonly ListedPeriod[]>> {
    const nowMs = this.clock.now();
    // Tenants that were read together share their calendars, and cutting one takes longer than all the rest.
    const known = new Map<TenantPolicyRows['calendars'], readonly ListedPeriod[]>();
    const cut = (tenant: TenantPolicyRows): readonly ListedPeriod[] => {
      const periods = known.get(tenant.calendars) ?? (selector === 'current' ? [{ ...tenantPeriodAt(tenant, nowMs), isClosed: false }] : calendarOf(tenant, selector));
      known.set(tenant.calendars, periods);
      return periods;
    };
    if (selector === 'current') return new Map(tenants.map((tenant) => [tenant.tenant, cut(tenant)]));
    const recorded = new Map<string, ListedPeriod[]>();
    for (const row of await readRecordedPeriods(this.prisma, tenants.map(({ tenant }) => tenant), selector)) {
      const period = { id: row.periodId, startMs: row.startAt.getTime(), endMs: row.endAt.getTime(), timezone: row.timezone, isClosed: row.closedAt !== null };
      recorded.set(row.tenant, [...(recorded.get(row.tenant) ?? []), period]);
    }
    return new Map(tenants.map((tenant) => {
      const counted = recorded.get(tenant.tenant) ?? [];
      const computed = cut(tenant).filter((period) => period.startMs <= nowMs && period.endMs > tenant.createdAt.getTime() &&
        !counted.some((other) => other.startMs < period.endMs && period.startMs < other.endMs));
      return [tenant.tenant, [...counted, ...computed].sort((a, b) => a.startMs - b.startMs)];
    }));
  }
}

/** Periods of a tenant that start in a month, by its calendars; a transition may be as short as 26 h. */
const calendarOf = (tenant: TenantPolicyRows, month: string): ListedPeriod[] =>
  tenantPeriods(tenant, { nowMs: Date.parse(`${month}-15T12:00:00Z`), before: 2, after: 2 })
    .filter(({ id }) => id.startsWith(`${month}-`)).map((period) => ({ ...period, isClosed: false }));

function metersOf(tenant: TenantPolicyRows, period: TenantPeriod, rows: readonly UsageSumRow[], { instant, meter: only }: { readonly instant: Date; readonly meter: string | undefined }): MeterFigures[] {
  if (tenant.deletedAt !== null && rows.length === 0) return [];
  const rules = partRulesOf(tenant, period, instant);
  // Units of a part that the tenant's timeline does not make (a clock of this process that is behind) count by the last rules there are.
  const last = rules.at(-1);
  const quotas = tenant.deletedAt === null ? (last?.quotas ?? []).map(({ meter }) => meter) : [];
  const byMeter = new Map<string, UsageSumRow[]>(quotas.map((meter) => [meter, []]));
  for (const row of rows) {
    const known = byMeter.get(row.meter);
    if (known) known.push(row);
    else byMeter.set(row.meter, [row]);
  }
  const meters = only === undefined ? [...byMeter.keys()].sort() : [only].filter((meter) => byMeter.has(meter));
  return meters.map((meter) => {
    const own = byMeter.get(meter) ?? [];
    const beyond = own.filter(({ part }) => !rules.some((rule) => rule.part === part));
    const parts = last === undefined || beyond.length === 0 ? rules : [...rules, ...beyond.map(({ part }) => ({ ...last, part }))].sort((a, b) => a.part - b.part);
    return { tenant: tenant.tenant, meter, period, parts: parts.map((rule) => settlePart(rule, meter, own.find(({ part }) => part === rule.part) ?? NO_USAGE)) };
  });
}
