import { Inject, Injectable } from '@nestjs/common';
import { TENANT_SORTS, type RouteInput, type RouteOutput, type routes, type TenantRow } from '@quotaplane/contracts';
import { z } from 'zod';
import { Clock } from '../config/clock';
import { PrismaService } from '../database/prisma.service';
import type { Caller } from '../http/caller';
import { pageOfRows, readCursor } from '../http/page-cursor';
import { UsageLedger } from '../usage/usage-ledger';
import { readListedTenants, readTenantPage } from './tenant-list-sql';
import { invalidField } from './tenant-rules';
import { tenantFromRow } from './tenants.mapping';

/** Keys that Postgres reads as numbers; any other is text. */
const NUMBER_KEYS: readonly string[] = ['createdAt', '-createdAt', 'monthUsed', '-monthUsed'];
/** A cursor of one order has no place in another. */
const tenantCursor = z
  .tuple([z.enum(TENANT_SORTS), z.string().max(200), z.string().max(100)])
  .refine(([sort, key]) => !NUMBER_KEYS.includes(sort) || /^-?\d{1,18}$/.test(key));

@Injectable()
export class TenantListService {
  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(UsageLedger) private readonly ledger: UsageLedger,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** A fixed number of queries a page, however many tenants are on it. */
  async list(caller: Caller, { query }: RouteInput<typeof routes.tenantsList>): Promise<RouteOutput<typeof routes.tenantsList>> {
    const now = new Date(this.clock.now());
    const cursor = readCursor(query.cursor, tenantCursor);
    if (cursor && cursor[0] !== query.sort) throw invalidField('/query/cursor', 'must be the nextCursor of the page before, in the same order');
    const after = cursor && { key: cursor[1], slug: cursor[2] };
    const places = await readTenantPage(this.prisma, query, { after, only: caller.boundTenant, now });
    const rows = await this.rowsOf(places.slice(0, query.limit).map(({ slug }) => slug), now);
    const shown = places.filter(({ slug }, index) => index >= query.limit || rows.has(slug));
    return pageOfRows(shown, query.limit, ({ key, slug }) => [query.sort, key, slug], ({ slug }) => rows.get(slug) as TenantRow);
  }

  private async rowsOf(slugs: readonly string[], now: Date): Promise<ReadonlyMap<string, TenantRow>> {
    const [tenants, usage] = await Promise.all([
      readListedTenants(this.prisma, slugs, now),
      this.ledger.itemsOf(slugs, 'current', now.toISOString(), { meter: 'requests' }),
    ]);
    const months = new Map(usage.map((item) => [item.tenant, item]));
    return new Map(tenants.map(({ row, denied, overrides }) => [row.slug, {
      ...tenantFromRow(row, now),
      monthUsed: months.get(row.slug)?.used ?? '0',
      monthAllowance: months.get(row.slug)?.allowance ?? null,
      deniedLastHour: denied,
      activeOverrides: overrides,
    }]));
  }
}
