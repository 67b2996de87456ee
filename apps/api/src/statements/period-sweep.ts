import { Inject, Injectable } from '@nestjs/common';
import type { TenantPeriod } from '@quotaplane/usage';
import { Clock } from '../config/clock';
import { PrismaService } from '../database/prisma.service';
import { calendarsOf, tenantPeriodAt, WITH_CALENDARS, type CalendarRows } from '../tenants/tenant-calendar';
import { createUsagePartitions, tenantsLackingPeriods } from './period-sql';

const TENANTS_PER_PAGE = 500;
/** This month and three ahead. */
const PARTITION_MONTHS = 4;
/** Most rows of one tenant at a time; an older one goes on with the next sweep. */
const PERIODS_BACK_MAX = 120;

interface Rows extends CalendarRows {
  readonly slug: string;
  readonly createdAt: Date;
  readonly deletedAt: Date | null;
}

/** Gives every tenant a row for each of its periods up to the running one, used or not: the closings are done along these rows. Repeats change nothing. */
@Injectable()
export class PeriodSweep {
  private firstRun: Promise<number> | undefined;

  constructor(@Inject(PrismaService) private readonly prisma: PrismaService, @Inject(Clock) private readonly clock: Clock) {}

  /** @returns how many rows were new */
  async run(): Promise<number> {
    const now = new Date(this.clock.now());
    await createUsagePartitions(this.prisma, now, PARTITION_MONTHS);
    let made = 0;
    for (let after = ''; ;) {
      const slugs = await tenantsLackingPeriods(this.prisma, now, after, TENANTS_PER_PAGE);
      made += await this.ensure(slugs);
      if (slugs.length < TENANTS_PER_PAGE) return made;
      after = slugs.at(-1) ?? after;
    }
  }

  /** The first run of this process, which those wait for who rely on the rows. A run that failed is tried again. */
  ready(): Promise<number> {
    this.firstRun ??= this.run().catch((error: unknown) => {
      this.firstRun = undefined;
      throw error;
    });
    return this.firstRun;
  }

  /** The same of some tenants. */
  async ensure(slugs: readonly string[]): Promise<number> {
    if (slugs.length === 0) return 0;
    const [tenants, known] = await Promise.all([
      this.prisma.tenant.findMany({ where: { slug: { in: [...slugs] } }, include: WITH_CALENDARS }),
      this.prisma.usagePeriod.findMany({ where: { tenant: { in: [...slugs] } }, select: { tenant: true, startAt: true, endAt: true } }),
    ]);
    const byTenant = new Map<string, (typeof known)[number][]>(slugs.map((slug) => [slug, []]));
    for (const row of known) byTenant.get(row.tenant)?.push(row);
    const data = tenants.flatMap((tenant) => lackingOf(tenant, byTenant.get(tenant.slug) ?? [], this.clock.now()).map((period) => ({
      tenant: tenant.slug, periodId: period.id, startAt: new Date(period.startMs), endAt: new Date(period.endMs), timezone: period.timezone, isTransition: period.isTransition,
    })));
    return data.length === 0 ? 0 : (await this.prisma.usagePeriod.createMany({ data, skipDuplicates: true })).count;
  }
}

/** Periods without a row, newest first. What is counted in already stands as it was cut then, also where the present calendar would cut otherwise. */
function lackingOf(tenant: Rows, known: readonly { readonly startAt: Date; readonly endAt: Date }[], nowMs: number): TenantPeriod[] {
  const calendars = calendarsOf(tenant);
  const lacking: TenantPeriod[] = [];
  const lastMs = Math.min(nowMs, tenant.deletedAt?.getTime() ?? Infinity);
  for (let atMs = Math.max(lastMs, tenant.createdAt.getTime()); atMs >= tenant.createdAt.getTime() && lacking.length < PERIODS_BACK_MAX;) {
    const period = tenantPeriodAt({ calendars }, atMs);
    if (!known.some(({ startAt, endAt }) => startAt.getTime() < period.endMs && period.startMs < endAt.getTime())) lacking.push(period);
    atMs = period.startMs - 1;
  }
  return lacking;
}
