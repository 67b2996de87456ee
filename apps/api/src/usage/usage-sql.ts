import type { UsageSums } from '@quotaplane/usage';
import type { PrismaService, Tx } from '../database/prisma.service';

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

const COUNTS = ['admitted', 'refunded', 'degraded', 'external', 'late', 'corrections', 'recovered'] as const;

type TextRow = Record<(typeof COUNTS)[number] | 'beforeAdmitted' | 'beforeRefunded' | 'beforeRecovered' | 'gap' | 'tenant' | 'meter' | 'periodId', string> & { readonly part: number };

/**
 * Sums over all incarnations and classes, of journals, records and what the counters alone knew. Read as text: a sum may pass 2^63.
 * @param generations the generation that a base is wanted for, by tenant; left out where none is: what is before it is then not told
 */
export async function readUsageSums(
  db: PrismaService | Tx, tenants: readonly string[], periodIds: readonly string[], generations: ReadonlyMap<string, number> = new Map(),
): Promise<UsageSumRow[]> {
  const slugs = [...tenants];
  const ids = [...new Set(periodIds)];
  const rows = await db.$queryRaw<TextRow[]>`
    WITH wanted AS (SELECT slug, generation FROM unnest(${[...generations.keys()]}::text[], ${[...generations.values()]}::int[]) AS wanted(slug, generation)),
    lines AS (
      SELECT tenant, meter, period_id, part, generation, admitted, refunded, degraded, 0 AS external, 0 AS late, 0 AS corrections, 0 AS recovered, 0 AS gap
      FROM usage_journals WHERE tenant = ANY(${slugs}::text[]) AND period_id = ANY(${ids}::text[])
      UNION ALL
      SELECT tenant, meter, period_id, part, NULL, 0, 0, 0, external, late, corrections, 0, 0
      FROM usage_external WHERE tenant = ANY(${slugs}::text[]) AND period_id = ANY(${ids}::text[])
      UNION ALL
      SELECT tenant, meter, period_id, part, generation, 0, 0, 0, 0, 0, 0, recovered, gap
      FROM usage_counters WHERE tenant = ANY(${slugs}::text[]) AND period_id = ANY(${ids}::text[])
    )
    SELECT lines.tenant, meter, period_id AS "periodId", part,
      sum(admitted)::text AS admitted, sum(refunded)::text AS refunded, sum(degraded)::text AS degraded, sum(external)::text AS external,
      sum(late)::text AS late, sum(corrections)::text AS corrections, sum(recovered)::text AS recovered,
      COALESCE(sum(admitted) FILTER (WHERE lines.generation < wanted.generation), 0)::text AS "beforeAdmitted",
      COALESCE(sum(refunded) FILTER (WHERE lines.generation < wanted.generation), 0)::text AS "beforeRefunded",
      COALESCE(sum(recovered) FILTER (WHERE lines.generation < wanted.generation), 0)::text AS "beforeRecovered",
      COALESCE(sum(gap) FILTER (WHERE lines.generation = wanted.generation), 0)::text AS gap
    FROM lines LEFT JOIN wanted ON wanted.slug = lines.tenant GROUP BY lines.tenant, meter, period_id, part
    ORDER BY lines.tenant, period_id, meter, part`;
  return rows.map((row) => ({
    tenant: row.tenant,
    meter: row.meter,
    periodId: row.periodId,
    part: row.part,
    ...Object.fromEntries(COUNTS.map((count) => [count, BigInt(row[count])])) as unknown as UsageSums,
    before: { admitted: BigInt(row.beforeAdmitted), refunded: BigInt(row.beforeRefunded), recovered: BigInt(row.beforeRecovered) },
    gap: BigInt(row.gap),
  }));
}
