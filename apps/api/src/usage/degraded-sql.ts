import type { PrismaService } from '../database/prisma.service';

export interface DegradedHourRow {
  readonly tenant: string;
  readonly meter: string;
  readonly class: string;
  readonly periodId: string;
  readonly hour: Date;
  readonly units: bigint;
  /** Units of the same tenant, meter and period in earlier hours, and in this one of classes before this one. */
  readonly unitsBefore: bigint;
}

/** Place of a row in the list's order: hour (newest first), tenant, meter, class, period. */
export type DegradedPlace = readonly [hour: string, tenant: string, meter: string, className: string, periodId: string];

interface Span {
  readonly from: Date;
  readonly to: Date;
  readonly tenant: string | null;
  readonly after: DegradedPlace | null;
  readonly limit: number;
}

/**
 * A page of what was admitted without the store, summed over nodes, parts and generations. What came before a row is counted over its whole
 * period, so that a page settles as the whole list would. The table holds outages only and stays small.
 */
export async function readDegradedHours(db: PrismaService, { from, to, tenant, after, limit }: Span): Promise<DegradedHourRow[]> {
  const [hour, afterTenant, meter, className, periodId] = after ?? [to.toISOString(), '', '', '', ''];
  const rows = await db.$queryRaw<(Omit<DegradedHourRow, 'units' | 'unitsBefore'> & { units: string; unitsBefore: string })[]>`
    WITH wanted AS (
      SELECT DISTINCT tenant, period_id FROM usage_degraded_hours
      WHERE hour >= ${from} AND hour < ${to} AND (${tenant}::text IS NULL OR tenant = ${tenant})
    ), summed AS (
      SELECT held.tenant, held.meter, held.class, held.period_id, held.hour, sum(held.units) AS units
      FROM usage_degraded_hours held JOIN wanted USING (tenant, period_id)
      GROUP BY held.tenant, held.meter, held.class, held.period_id, held.hour
    ), placed AS (
      SELECT *, sum(units) OVER (PARTITION BY tenant, meter, period_id ORDER BY hour, class ROWS UNBOUNDED PRECEDING) - units AS units_before FROM summed
    )
    SELECT tenant, meter, class, period_id AS "periodId", hour, units::text AS units, units_before::text AS "unitsBefore" FROM placed
    WHERE hour >= ${from} AND hour < ${to}
      AND (hour < ${hour}::timestamptz OR (hour = ${hour}::timestamptz AND (tenant, meter, class, period_id) > (${afterTenant}, ${meter}, ${className}, ${periodId})))
    ORDER BY hour DESC, tenant, meter, class, period_id LIMIT ${limit}`;
  return rows.map((row) => ({ ...row, units: BigInt(row.units), unitsBefore: BigInt(row.unitsBefore) }));
}
