import type { UsageSums } from '@quotaplane/usage';
import type { PrismaService, Tx } from '../database/prisma.service';
import { Prisma } from '../database/rows';

/** Sums of one tenant, meter, period and part. */
export interface UsageSumRow extends UsageSums {
  readonly tenant: string;
  readonly meter: string;
  readonly periodId: string;
  readonly part: number;
  /** Net of what generations before the tenant's present one admitted, refunded and recovered, and what this one's counter has lost: for the base (M3). */
  readonly before: { readonly admitted: bigint; readonly refunded: bigint; readonly recovered: bigint };
  readonly gap: bigint;
}

/** Sums are null where they are 0, and text else: they may pass 2^53. */
type StoredSums = readonly [
  tenant: string, meter: string, periodId: string, part: number,
  admitted: string | null, refunded: string | null, degraded: string | null, external: string | null, late: string | null, corrections: string | null, recovered: string | null,
  beforeAdmitted?: string | null, beforeRefunded?: string | null, beforeRecovered?: string | null, gap?: string | null,
];

const NOTHING_BEFORE = { admitted: 0n, refunded: 0n, recovered: 0n };

/**
 * Sums over all incarnations and classes, of journals, records and what the counters alone knew, sorted by tenant, period, meter and part. One JSON text, since
 * the client would take longer for rows and columns than Postgres takes for the sums.
 * @param generations the generation that a base is wanted for, by tenant; left out where none is: what is before it is then not told
 * @param meter the only one to read; all when left out
 */
export async function readUsageSums(
  db: PrismaService | Tx, tenants: readonly string[], periodIds: readonly string[], generations: ReadonlyMap<string, number> = new Map(), meter?: string,
): Promise<UsageSumRow[]> {
  const slugs = [...tenants];
  const ids = [...new Set(periodIds)];
  const own = Prisma.sql`tenant = ANY(${slugs}::text[]) AND period_id = ANY(${ids}::text[]) ${meter === undefined ? Prisma.empty : Prisma.sql`AND meter = ${meter}`}`;
  const before = generations.size === 0 ? NO_GENERATIONS : generationSums(generations);
  const [found] = await db.$queryRaw<{ rows: string | null }[]>`
    WITH lines AS (
      SELECT tenant, meter, period_id, part, generation, admitted, refunded, degraded, 0 AS external, 0 AS late, 0 AS corrections, 0 AS recovered, 0 AS gap
      FROM usage_journals WHERE ${own}
      UNION ALL SELECT tenant, meter, period_id, part, NULL, 0, 0, 0, external, late, corrections, 0, 0 FROM usage_external WHERE ${own}
      UNION ALL SELECT tenant, meter, period_id, part, generation, 0, 0, 0, 0, 0, 0, recovered, gap FROM usage_counters WHERE ${own}
    ), sums AS (
      SELECT lines.tenant, meter, period_id, part, json_build_array(lines.tenant, meter, period_id, part,
        ${units('admitted')}, ${units('refunded')}, ${units('degraded')}, ${units('external')}, ${units('late')}, ${units('corrections')}, ${units('recovered')} ${before.columns}) AS row
      FROM lines ${before.join} GROUP BY lines.tenant, meter, period_id, part
    )
    SELECT json_agg(row ORDER BY tenant, period_id, meter, part)::text AS rows FROM sums`;
  return found?.rows ? (JSON.parse(found.rows) as StoredSums[]).map(sumsFrom) : [];
}

/** A literal column name. */
const units = (column: keyof UsageSums, where: Prisma.Sql = Prisma.empty): Prisma.Sql => Prisma.sql`NULLIF(sum(${Prisma.raw(column)}) ${where}, 0)::text`;

const NO_GENERATIONS = { columns: Prisma.empty, join: Prisma.empty };

function generationSums(generations: ReadonlyMap<string, number>): { readonly columns: Prisma.Sql; readonly join: Prisma.Sql } {
  const earlier = Prisma.sql`FILTER (WHERE lines.generation < wanted.generation)`;
  return {
    columns: Prisma.sql`, ${units('admitted', earlier)}, ${units('refunded', earlier)}, ${units('recovered', earlier)},
      NULLIF(sum(gap) FILTER (WHERE lines.generation = wanted.generation), 0)::text`,
    join: Prisma.sql`LEFT JOIN unnest(${[...generations.keys()]}::text[], ${[...generations.values()]}::int[]) AS wanted(slug, generation) ON wanted.slug = lines.tenant`,
  };
}

const sumsFrom = ([tenant, meter, periodId, part, admitted, refunded, degraded, external, late, corrections, recovered, beforeAdmitted, beforeRefunded, beforeRecovered, gap]: StoredSums): UsageSumRow => ({
  tenant, meter, periodId, part,
  admitted: unitsOf(admitted), refunded: unitsOf(refunded), degraded: unitsOf(degraded), external: unitsOf(external), late: unitsOf(late),
  corrections: unitsOf(corrections), recovered: unitsOf(recovered),
  before: beforeAdmitted === undefined ? NOTHING_BEFORE : { admitted: unitsOf(beforeAdmitted), refunded: unitsOf(beforeRefunded), recovered: unitsOf(beforeRecovered) },
  gap: unitsOf(gap),
});

const unitsOf = (text: string | null | undefined): bigint => (text === null || text === undefined ? 0n : BigInt(text));

/** Periods of some tenants that start in a month (`2026-11`), as they were cut when they were counted in. */
export function readRecordedPeriods(
  db: PrismaService, tenants: readonly string[], month: string,
): Promise<{ tenant: string; periodId: string; startAt: Date; endAt: Date; timezone: string; closedAt: Date | null }[]> {
  // The days of the month by name: the primary key takes them, and no pattern.
  const days = Array.from({ length: 31 }, (_, day) => `${month}-${String(day + 1).padStart(2, '0')}`);
  return db.usagePeriod.findMany({ where: { tenant: { in: [...tenants] }, periodId: { in: days } } });
}
