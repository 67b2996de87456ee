import type { PrismaService, Tx } from '../database/prisma.service';

/** One period of one tenant. */
export interface PeriodKey {
  readonly tenant: string;
  readonly periodId: string;
}

export const periodKey = ({ tenant, periodId }: PeriodKey): string => `${tenant}|${periodId}`;
export const meterKey = (tenant: string, periodId: string, meter: string): string => `${tenant}|${periodId}|${meter}`;

const SUMS = ['admitted', 'refunded', 'degraded', 'doubtful', 'external', 'late', 'corrections', 'adjusted', 'recovered'] as const;

/** What the raw rows of one meter say, over all parts, classes, generations and incarnations. `corrections` as a positive number. */
export type RawSums = Readonly<Record<(typeof SUMS)[number], bigint>>;
export interface RawRow extends PeriodKey {
  readonly meter: string;
  readonly sums: RawSums;
}

export const NO_SUMS: RawSums = { admitted: 0n, refunded: 0n, degraded: 0n, doubtful: 0n, external: 0n, late: 0n, corrections: 0n, adjusted: 0n, recovered: 0n };

/**
 * Reads the raw rows by themselves, without the rules and the code that made the statement, by tenant, period and meter. Written with ANY and not as a join
 * with the pairs, so that partitions of other months are left out; what is read too much is dropped here. As text: a sum may pass 2^63.
 */
export async function readRawSums(db: PrismaService | Tx, wanted: readonly PeriodKey[]): Promise<Map<string, RawRow[]>> {
  const slugs = [...new Set(wanted.map(({ tenant }) => tenant))];
  const ids = [...new Set(wanted.map(({ periodId }) => periodId))];
  const rows = await db.$queryRaw<(PeriodKey & { readonly meter: string } & Record<(typeof SUMS)[number], string>)[]>`
    SELECT tenant, period_id AS "periodId", meter, sum(admitted)::text AS admitted, sum(refunded)::text AS refunded, sum(degraded)::text AS degraded,
      sum(doubtful)::text AS doubtful, sum(external)::text AS external, sum(late)::text AS late, sum(corrections)::text AS corrections,
      sum(adjusted)::text AS adjusted, sum(recovered)::text AS recovered
    FROM (
      SELECT tenant, period_id, meter, admitted, refunded, degraded, doubtful, 0 AS external, 0 AS late, 0 AS corrections, 0 AS adjusted, 0 AS recovered
      FROM usage_journals WHERE tenant = ANY(${slugs}::text[]) AND period_id = ANY(${ids}::text[])
      UNION ALL
      SELECT tenant, period_id, meter, 0, 0, 0, 0, external, late, corrections, adjusted, 0
      FROM usage_external WHERE tenant = ANY(${slugs}::text[]) AND period_id = ANY(${ids}::text[])
      UNION ALL
      SELECT tenant, period_id, meter, 0, 0, 0, 0, 0, 0, 0, 0, recovered
      FROM usage_counters WHERE tenant = ANY(${slugs}::text[]) AND period_id = ANY(${ids}::text[])
    ) lines GROUP BY tenant, period_id, meter ORDER BY tenant, period_id, meter`;
  const byPeriod = new Map<string, RawRow[]>(wanted.map((key) => [periodKey(key), []]));
  for (const row of rows) {
    const sums = Object.fromEntries(SUMS.map((name) => [name, BigInt(row[name])])) as unknown as RawSums;
    byPeriod.get(periodKey(row))?.push({ tenant: row.tenant, periodId: row.periodId, meter: row.meter, sums });
  }
  return byPeriod;
}

/** Sum of the single usage records by {@link meterKey}. Nothing of a period whose partition was archived. */
export async function readRecordSums(db: PrismaService | Tx, wanted: readonly PeriodKey[]): Promise<Map<string, bigint>> {
  const rows = await db.$queryRaw<(PeriodKey & { readonly meter: string; readonly units: string })[]>`
    SELECT tenant, period_id AS "periodId", meter, sum(units)::text AS units FROM usage_records
    WHERE period_id = ANY(${[...new Set(wanted.map(({ periodId }) => periodId))]}::text[]) AND tenant = ANY(${[...new Set(wanted.map(({ tenant }) => tenant))]}::text[])
    GROUP BY tenant, period_id, meter`;
  return new Map(rows.map(({ tenant, periodId, meter, units }) => [meterKey(tenant, periodId, meter), BigInt(units)]));
}
