import type { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import type { RouteInput, RouteOutput, routes, UsageItem } from '@quotaplane/contracts';
import { z } from 'zod';
import { PrismaService } from '../database/prisma.service';
import type { Caller } from '../http/caller';
import { cursorOf, pageOfRows, readCursor } from '../http/page-cursor';
import { tenantPage } from '../outbox/outbox-sql';
import { requireTenantFilter } from '../tenants/tenants.service';
import { rowStream, type StreamFormat } from './row-stream';
import { UsageLedger } from './usage-ledger';

/** Tenants that an export reads at once, and that a list reads first: it goes on with twice as many as long as its page is not full. */
const TENANTS_PER_PAGE = 250;
const FIRST_TENANTS = 10;
/** Pages of an export that are read while one is written: Postgres and this process work at the same time. */
const PAGES_AHEAD = 3;
/** Place of an item in the total order: tenant, period, meter. */
const usageCursor = z.tuple([z.string().max(100), z.string().max(20), z.string().max(100)]);
type Place = z.infer<typeof usageCursor>;

const placeOf = ({ tenant, period, meter }: UsageItem): Place => [tenant, period.id, meter];
const isAfter = (item: UsageItem, place: Place): boolean => {
  const own = placeOf(item);
  const index = own.findIndex((part, at) => part !== place[at]);
  return index >= 0 && (own[index] ?? '') > (place[index] ?? '');
};

/** A row of an export, with the place to go on from. */
export interface ExportedItem extends UsageItem {
  readonly cursor: string;
}

@Injectable()
export class UsageService {
  constructor(@Inject(PrismaService) private readonly prisma: PrismaService, @Inject(UsageLedger) private readonly ledger: UsageLedger) {}

  async list(caller: Caller, { query }: RouteInput<typeof routes.usageList>): Promise<RouteOutput<typeof routes.usageList>> {
    const after = readCursor(query.cursor, usageCursor);
    await requireTenantFilter(this.prisma, query.tenant);
    const asOf = await this.ledger.asOf();
    const only = caller.boundTenant ?? query.tenant;
    const found: UsageItem[] = [];
    for await (const items of this.pages(query.period, asOf, { ...(only === undefined ? {} : { only }), ...(after ? { from: after[0] } : {}), isWhole: false })) {
      found.push(...(after ? items.filter((item) => isAfter(item, after)) : items));
      if (found.length > query.limit) break;
    }
    return pageOfRows(found, query.limit, placeOf, (item) => item);
  }

  /**
   * Every item of the selected periods, in the list's order, as it is read. A cursor goes on behind the row that carries it: nothing twice, nothing left out.
   * @throws {DomainError} invalid, not_found: before the first row
   */
  async stream(caller: Caller, { period, tenant, cursor }: RouteInput<typeof routes.usageExport>['query']): Promise<AsyncGenerator<readonly ExportedItem[]>> {
    const after = readCursor(cursor, usageCursor);
    await requireTenantFilter(this.prisma, tenant);
    return this.rows(period, caller.boundTenant ?? tenant, after);
  }

  private async *rows(period: string, only: string | undefined, after: Place | undefined): AsyncGenerator<readonly ExportedItem[]> {
    const asOf = await this.ledger.asOf();
    for await (const items of this.pages(period, asOf, { ...(only === undefined ? {} : { only }), ...(after ? { from: after[0] } : {}), isWhole: true })) {
      const behind = after ? items.filter((item) => isAfter(item, after)) : items;
      yield behind.map((item) => Object.assign(item, { cursor: cursorOf(placeOf(item)) }));
    }
  }

  /**
   * @param from first tenant to read, itself included
   * @param isWhole everything will be taken: the next pages are read while one is written
   */
  private async *pages(period: string, asOf: string, { only, from, isWhole }: { readonly only?: string; readonly from?: string; readonly isWhole: boolean }): AsyncGenerator<UsageItem[]> {
    if (only !== undefined) {
      yield await this.ledger.itemsOf([only], period, asOf);
      return;
    }
    if (from !== undefined) yield await this.ledger.itemsOf([from], period, asOf);
    if (!isWhole) {
      for (let [after, tenants] = [from ?? '', FIRST_TENANTS]; ; tenants = Math.min(2 * tenants, TENANTS_PER_PAGE)) {
        const slugs = await tenantPage(this.prisma, after, tenants);
        if (slugs.length === 0) return;
        yield await this.ledger.itemsOf(slugs, period, asOf);
        after = slugs.at(-1) ?? after;
      }
    }
    const ahead: Promise<UsageItem[]>[] = [];
    for (let after: string | undefined = from ?? ''; after !== undefined || ahead.length > 0;) {
      while (after !== undefined && ahead.length < PAGES_AHEAD) {
        const slugs: string[] = await tenantPage(this.prisma, after, TENANTS_PER_PAGE);
        after = slugs.at(-1);
        if (slugs.length === 0) break;
        const items = this.ledger.itemsOf(slugs, period, asOf);
        // Whoever comes to it gets the error; one who went away leaves it.
        items.catch(() => undefined);
        ahead.push(items);
      }
      const items = ahead.shift();
      if (items) yield await items;
    }
  }
}

const COLUMNS = [
  'tenant', 'meter', 'period', 'start', 'end', 'timezone', 'status', 'used', 'allowance', 'overage', 'billable', 'carried', 'granted', 'remaining', 'admitted', 'refunded', 'degraded', 'settled',
  'external', 'late', 'recovered', 'corrections', 'asOf', 'cursor',
] as const;

const cellsOf = (item: ExportedItem): Record<(typeof COLUMNS)[number], string> => ({
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
  cursor: item.cursor,
});

/** The body of an export of usage. */
export const exportBody = (items: AsyncIterable<readonly ExportedItem[]>, format: StreamFormat): Readable => rowStream(items, format, { columns: COLUMNS, cellsOf });
