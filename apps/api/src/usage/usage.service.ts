import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import type { RouteInput, RouteOutput, routes, UsageItem } from '@quotaplane/contracts';
import { stringify } from 'csv-stringify';
import { z } from 'zod';
import { PrismaService } from '../database/prisma.service';
import type { Caller } from '../http/caller';
import { pageOfRows, readCursor } from '../http/page-cursor';
import { tenantPage } from '../outbox/outbox-sql';
import { requireTenantFilter } from '../tenants/tenants.service';
import { safeCell } from './csv-cell';
import { UsageLedger } from './usage-ledger';

const TENANTS_PER_PAGE = 200;
/** Place of an item in the total order: tenant, period, meter. */
const usageCursor = z.tuple([z.string().max(100), z.string().max(20), z.string().max(100)]);
type Place = z.infer<typeof usageCursor>;

const placeOf = ({ tenant, period, meter }: UsageItem): Place => [tenant, period.id, meter];
const isAfter = (item: UsageItem, place: Place): boolean => {
  const own = placeOf(item);
  const index = own.findIndex((part, at) => part !== place[at]);
  return index >= 0 && (own[index] ?? '') > (place[index] ?? '');
};

@Injectable()
export class UsageService {
  constructor(@Inject(PrismaService) private readonly prisma: PrismaService, @Inject(UsageLedger) private readonly ledger: UsageLedger) {}

  async list(caller: Caller, { query }: RouteInput<typeof routes.usageList>): Promise<RouteOutput<typeof routes.usageList>> {
    const after = readCursor(query.cursor, usageCursor);
    await requireTenantFilter(this.prisma, query.tenant);
    const asOf = await this.ledger.asOf();
    const only = caller.boundTenant ?? query.tenant;
    const found: UsageItem[] = [];
    for await (const items of this.pages(query.period, asOf, only, after?.[0])) {
      found.push(...(after ? items.filter((item) => isAfter(item, after)) : items));
      if (found.length > query.limit) break;
    }
    return pageOfRows(found, query.limit, placeOf, (item) => item);
  }

  /** Every item of the selected periods, in the list's order, as it is read. */
  async *stream(caller: Caller, period: string): AsyncGenerator<UsageItem> {
    const asOf = await this.ledger.asOf();
    for await (const items of this.pages(period, asOf, caller.boundTenant ?? undefined)) yield* items;
  }

  /** @param from first tenant to read, itself included */
  private async *pages(period: string, asOf: string, only?: string, from?: string): AsyncGenerator<UsageItem[]> {
    if (only !== undefined) {
      yield await this.ledger.itemsOf([only], period, asOf);
      return;
    }
    if (from !== undefined) yield await this.ledger.itemsOf([from], period, asOf);
    for (let after = from ?? ''; ;) {
      const slugs = await tenantPage(this.prisma, after, TENANTS_PER_PAGE);
      if (slugs.length === 0) return;
      yield await this.ledger.itemsOf(slugs, period, asOf);
      after = slugs.at(-1) ?? after;
    }
  }
}

const COLUMNS = [
  'tenant', 'meter', 'period', 'start', 'end', 'timezone', 'status', 'used', 'allowance', 'overage', 'billable', 'carried', 'granted', 'remaining', 'admitted', 'refunded', 'degraded', 'settled',
  'external', 'late', 'recovered', 'corrections', 'asOf',
] as const;

const cellsOf = (item: UsageItem): Record<(typeof COLUMNS)[number], string> => ({
  tenant: item.tenant,
  meter: item.meter,
  period: item.period.id,
  start: item.period.start,
  end: item.period.end,
  timezone: item.period.timezone,
  status: item.status,
  used: item.used,
  allowance: item.allowance ?? '',
  overage: item.overage,
  billable: item.billable,
  carried: item.carried,
  granted: item.granted,
  remaining: item.remaining ?? '',
  ...item.breakdown,
  asOf: item.asOf,
});

async function* csvRows(items: AsyncIterable<UsageItem>): AsyncGenerator<string[]> {
  for await (const item of items) {
    const cells = cellsOf(item);
    yield COLUMNS.map((column) => safeCell(cells[column]));
  }
}

async function* ndjsonLines(items: AsyncIterable<UsageItem>): AsyncGenerator<string> {
  for await (const item of items) yield `${JSON.stringify(item)}\n`;
}

/** The body of an export: written while it is read, so that its size does not matter. */
export const exportBody = (items: AsyncIterable<UsageItem>, format: 'csv' | 'ndjson'): Readable => {
  if (format === 'ndjson') return Readable.from(ndjsonLines(items));
  const csv = stringify({ header: true, columns: [...COLUMNS] });
  const rows = Readable.from(csvRows(items));
  rows.on('error', (error) => csv.destroy(error));
  return rows.pipe(csv);
};
