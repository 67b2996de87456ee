import type { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import type { RouteInput, routes, StatementLine } from '@quotaplane/contracts';
import { z } from 'zod';
import { Clock } from '../config/clock';
import { PrismaService } from '../database/prisma.service';
import type { Caller } from '../http/caller';
import { cursorOf, readCursor } from '../http/page-cursor';
import { tenantPage } from '../outbox/outbox-sql';
import { requireTenantFilter } from '../tenants/tenants.service';
import { rowStream, type StreamFormat } from '../usage/row-stream';
import { lineTotals } from './statement-lines';
import { adjustedBy, metersOf } from './statement.mapping';
import { storedStatement, type StoredStatement } from './stored-statement';

const TENANTS_PER_PAGE = 100;
/** Place of a row in the total order: tenant, period, meter. */
const place = z.tuple([z.string().max(100), z.string().max(20), z.string().max(100)]);
type Place = z.infer<typeof place>;

/** A line with its statement and what came after closing. */
export interface ExportedLine extends Omit<StatementLine, 'parts'> {
  readonly tenant: string;
  readonly statement: string;
  readonly number: number;
  readonly period: StoredStatement['content']['period'];
  readonly closedAt: string;
  /** Sum of the meter's adjustments, and line and adjustments together. */
  readonly adjusted: string;
  readonly totalUsed: string;
  readonly totalBillable: string;
  readonly agrees: boolean;
  readonly hash: string;
  /** Adjustments made up to then are in. */
  readonly asOf: string;
  readonly cursor: string;
}

/** The line of a meter that was used after closing only. */
const NOTHING: Omit<StatementLine, 'meter' | 'parts'> = {
  admitted: '0', refunded: '0', degraded: '0', settled: '0', external: '0', late: '0', recovered: '0', corrections: '0', used: '0',
  carriedIn: '0', carriedOut: '0', granted: '0', allowance: null, overage: '0', billable: '0', overagePolicy: 'reject',
};

@Injectable()
export class StatementExport {
  constructor(@Inject(PrismaService) private readonly prisma: PrismaService, @Inject(Clock) private readonly clock: Clock) {}

  /**
   * Lines of the statements whose periods start in a month, by tenant, period and meter, as they are read.
   * @throws {DomainError} invalid, not_found: before the first row
   */
  async stream(caller: Caller, { period, tenant, cursor }: RouteInput<typeof routes.statementsExport>['query']): Promise<AsyncGenerator<readonly ExportedLine[]>> {
    const after = readCursor(cursor, place);
    await requireTenantFilter(this.prisma, tenant);
    return this.lines(period, caller.boundTenant ?? tenant, after);
  }

  private async *lines(month: string, only: string | undefined, after: Place | undefined): AsyncGenerator<readonly ExportedLine[]> {
    for await (const slugs of this.tenantPages(only, after?.[0])) {
      const asOf = new Date(this.clock.now()).toISOString();
      const rows = await this.prisma.statement.findMany({
        where: { tenant: { in: slugs }, periodId: { startsWith: `${month}-` } }, include: { adjustments: { orderBy: { number: 'asc' } } },
      });
      const ordered = rows.map(storedStatement).sort((a, b) => (a.tenant === b.tenant ? a.periodId < b.periodId : a.tenant < b.tenant) ? -1 : 1);
      const lines = ordered.flatMap((statement) => linesOf(statement, asOf));
      yield after ? lines.filter((line) => isAfter(line, after)) : lines;
    }
  }

  private async *tenantPages(only: string | undefined, from: string | undefined): AsyncGenerator<string[]> {
    if (only !== undefined) {
      yield [only];
      return;
    }
    if (from !== undefined) yield [from];
    for (let after = from ?? ''; ;) {
      const slugs = await tenantPage(this.prisma, after, TENANTS_PER_PAGE);
      if (slugs.length === 0) return;
      yield slugs;
      after = slugs.at(-1) ?? after;
    }
  }
}

const isAfter = ({ tenant, period, meter }: ExportedLine, last: Place): boolean => {
  const own = [tenant, period.id, meter];
  const index = own.findIndex((part, at) => part !== last[at]);
  return index >= 0 && (own[index] ?? '') > (last[index] ?? '');
};

function linesOf(statement: StoredStatement, asOf: string): ExportedLine[] {
  const { content, adjustments } = statement;
  const adjusted = adjustedBy(adjustments);
  return metersOf(statement).map((meter) => {
    const line = content.lines.find((candidate) => candidate.meter === meter);
    const units = adjusted.get(meter) ?? 0n;
    const { used, billable } = lineTotals(line, units);
    const { parts: _, ...figures } = line ?? { ...NOTHING, meter, parts: [] };
    return {
      tenant: content.tenant, statement: statement.id, number: content.number, period: content.period, closedAt: content.closedAt, ...figures,
      adjusted: String(units), totalUsed: String(used), totalBillable: String(billable),
      agrees: content.reconciliation.find((one) => one.meter === meter)?.agrees ?? true,
      hash: statement.hash, asOf, cursor: cursorOf([content.tenant, content.period.id, meter]),
    };
  });
}

const COLUMNS = [
  'tenant', 'number', 'period', 'start', 'end', 'timezone', 'closedAt', 'meter', 'admitted', 'refunded', 'degraded', 'settled', 'external', 'late', 'recovered', 'corrections', 'used',
  'carriedIn', 'carriedOut', 'granted', 'allowance', 'overage', 'billable', 'overagePolicy', 'adjusted', 'totalUsed', 'totalBillable', 'agrees', 'statement', 'hash', 'asOf', 'cursor',
] as const;

const cellsOf = ({ period, number, allowance, agrees, ...line }: ExportedLine): Record<(typeof COLUMNS)[number], string> => ({
  ...line, number: String(number), period: period.id, start: period.start, end: period.end, timezone: period.timezone, allowance: allowance ?? '', agrees: String(agrees),
});

export const statementBody = (lines: AsyncIterable<readonly ExportedLine[]>, format: StreamFormat): Readable => rowStream(lines, format, { columns: COLUMNS, cellsOf });
