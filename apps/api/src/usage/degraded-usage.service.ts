import { Inject, Injectable } from '@nestjs/common';
import { DomainError, instant, type RouteInput, type RouteOutput, type routes } from '@quotaplane/contracts';
import { HOUR_MS } from '@quotaplane/usage';
import { z } from 'zod';
import { Clock } from '../config/clock';
import { PrismaService } from '../database/prisma.service';
import type { Caller } from '../http/caller';
import { pageOfRows, readCursor } from '../http/page-cursor';
import { requireTenantFilter } from '../tenants/tenants.service';
import { readDegradedHours, type DegradedHourRow, type DegradedPlace } from './degraded-sql';
import { UsageLedger, type SettledItem } from './usage-ledger';

const DEFAULT_SPAN_MS = 31 * 24 * HOUR_MS;
const placeShape = z.tuple([instant, z.string().max(100), z.string().max(100), z.string().max(100), z.string().max(20)]);

const placeOf = ({ hour, tenant, meter, class: className, periodId }: DegradedHourRow): DegradedPlace => [hour.toISOString(), tenant, meter, className, periodId];
const keyOf = (tenant: string, periodId: string, meter: string): string => [tenant, periodId, meter].join('|');

/** What outages gave away: units admitted without the store, by the hour, and what of them counts. */
@Injectable()
export class DegradedUsageService {
  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(UsageLedger) private readonly ledger: UsageLedger,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async list(caller: Pick<Caller, 'boundTenant'>, { query }: Pick<RouteInput<typeof routes.usageDegradedList>, 'query'>): Promise<RouteOutput<typeof routes.usageDegradedList>> {
    const after = readCursor(query.cursor, placeShape) ?? null;
    await requireTenantFilter(this.prisma, query.tenant);
    // One ms more, so that the hour of this very instant is in.
    const toMs = query.to ? Date.parse(query.to) : this.clock.now() + 1;
    const fromMs = Math.floor((query.from ? Date.parse(query.from) : Math.max(0, toMs - DEFAULT_SPAN_MS)) / HOUR_MS) * HOUR_MS;
    if (fromMs >= toMs) throw new DomainError('invalid', 'to must be after from', { errors: [{ pointer: '/query/to', detail: 'must be after from' }] });
    const rows = await readDegradedHours(this.prisma, {
      from: new Date(fromMs), to: new Date(toMs), tenant: caller.boundTenant ?? query.tenant ?? null, after, limit: query.limit + 1,
    });
    const settled = await this.settledOf(rows);
    return pageOfRows(rows, query.limit, placeOf, (row) => itemOf(row, settled.get(keyOf(row.tenant, row.periodId, row.meter))));
  }

  /** The ledger's own settlement of the periods these rows are of. */
  private async settledOf(rows: readonly DegradedHourRow[]): Promise<ReadonlyMap<string, SettledItem>> {
    const found = new Map<string, SettledItem>();
    const asOf = await this.ledger.asOf();
    for (const month of new Set(rows.map(({ periodId }) => periodId.slice(0, 7)))) {
      const slugs = [...new Set(rows.filter(({ periodId }) => periodId.startsWith(month)).map(({ tenant }) => tenant))];
      for (const settled of await this.ledger.settledItemsOf(slugs, month, asOf)) {
        found.set(keyOf(settled.item.tenant, settled.item.period.id, settled.item.meter), settled);
      }
    }
    return found;
  }
}

/** Of what the period settles, first come first counted. */
const itemOf = ({ tenant, meter, class: className, periodId, hour, units, unitsBefore }: DegradedHourRow, settled: SettledItem | undefined) => {
  const left = BigInt(settled?.item.breakdown.settled ?? 0) - unitsBefore;
  return {
    tenant, meter, class: className, period: periodId, hour: hour.toISOString(), degraded: String(units),
    settled: String(left <= 0n ? 0n : left < units ? left : units),
    settlement: settled?.settlement ?? 'waive',
  } as const;
};
