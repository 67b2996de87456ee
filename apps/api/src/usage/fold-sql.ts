import { HOUR_MS, type JournalBatch, type JournalRow, type TrafficMinute } from '@quotaplane/usage';
import type { PrismaService, Tx } from '../database/prisma.service';

const ROWS_PER_STATEMENT = 2_000;

/** In a fixed order; each key is made once, for a fold may have 100,000 rows. */
function sortedByKey(rows: readonly JournalRow[]): JournalRow[] {
  const keyed = rows.map((row) => ({ row, key: [row.tenant, row.periodId, row.meter, row.part, row.class, row.generation, row.incarnation].join('|') }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ row }) => row);
}

/** Writes counts with GREATEST. Sorted by key, so that two folders queue on the rows they share and never deadlock. */
export async function upsertJournals(tx: Tx, unsorted: readonly JournalRow[]): Promise<void> {
  const rows = sortedByKey(unsorted);
  for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT) {
    const page = rows.slice(from, from + ROWS_PER_STATEMENT);
    const column = (of: (row: JournalRow) => string | number | bigint): string[] => page.map((row) => String(of(row)));
    await tx.$executeRaw`
      INSERT INTO usage_journals AS held (incarnation, tenant, meter, period_id, part, class, generation, admitted, refunded, degraded, doubtful, updated_at)
      SELECT incarnation, tenant, meter, period_id, part::int, class, generation::int, admitted::bigint, refunded::bigint, degraded::bigint, doubtful::bigint, clock_timestamp()
      FROM unnest(${column((row) => row.incarnation)}::text[], ${column((row) => row.tenant)}::text[], ${column((row) => row.meter)}::text[],
        ${column((row) => row.periodId)}::text[], ${column((row) => row.part)}::text[], ${column((row) => row.class)}::text[],
        ${column((row) => row.generation)}::text[], ${column((row) => row.admitted)}::text[], ${column((row) => row.refunded)}::text[],
        ${column((row) => row.degraded)}::text[], ${column((row) => row.doubtful)}::text[])
        AS folded(incarnation, tenant, meter, period_id, part, class, generation, admitted, refunded, degraded, doubtful)
      ON CONFLICT (tenant, period_id, meter, part, class, generation, incarnation) DO UPDATE SET
        admitted = GREATEST(held.admitted, excluded.admitted), refunded = GREATEST(held.refunded, excluded.refunded),
        degraded = GREATEST(held.degraded, excluded.degraded), doubtful = GREATEST(held.doubtful, excluded.doubtful), updated_at = excluded.updated_at`;
  }
}

/** Writes by the hour what was admitted without the store; with GREATEST and in a fixed order, as above. */
export async function upsertDegradedHours(tx: Tx, unsorted: readonly JournalRow[]): Promise<void> {
  const rows = sortedByKey(unsorted.filter(({ degradedHours }) => degradedHours !== undefined && degradedHours.size > 0)).flatMap((row) => [...(row.degradedHours ?? [])].sort(([a], [b]) => a - b).map(([hour, units]) => ({ ...row, hour, units })));
  for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT) {
    const page = rows.slice(from, from + ROWS_PER_STATEMENT);
    const column = (of: (row: (typeof page)[number]) => string | number | bigint): string[] => page.map((row) => String(of(row)));
    await tx.$executeRaw`
      INSERT INTO usage_degraded_hours AS held (incarnation, tenant, meter, period_id, part, class, generation, hour, units)
      SELECT incarnation, tenant, meter, period_id, part::int, class, generation::int, to_timestamp(hour::bigint * ${HOUR_MS / 1000}::int), units::bigint
      FROM unnest(${column((row) => row.incarnation)}::text[], ${column((row) => row.tenant)}::text[], ${column((row) => row.meter)}::text[],
        ${column((row) => row.periodId)}::text[], ${column((row) => row.part)}::text[], ${column((row) => row.class)}::text[],
        ${column((row) => row.generation)}::text[], ${column((row) => row.hour)}::text[], ${column((row) => row.units)}::text[])
        AS folded(incarnation, tenant, meter, period_id, part, class, generation, hour, units)
      ON CONFLICT (tenant, period_id, meter, hour, class, part, generation, incarnation) DO UPDATE SET units = GREATEST(held.units, excluded.units)`;
  }
}

/** Remembers how far each incarnation is folded; `folded_at` is the store time of its flush. Sorted by id, as above. */
export async function upsertIncarnations(tx: Tx, unsorted: readonly JournalBatch[]): Promise<void> {
  const batches = [...unsorted].sort((a, b) => (a.incarnation < b.incarnation ? -1 : 1));
  await tx.$executeRaw`
    INSERT INTO incarnations AS held (id, service, folded_seq, folded_at, closed_at)
    SELECT id, service, seq::bigint, to_timestamp(at_ms::bigint / 1000.0), CASE WHEN closed THEN to_timestamp(at_ms::bigint / 1000.0) END
    FROM unnest(${batches.map(({ incarnation }) => incarnation)}::text[], ${batches.map(({ service }) => service)}::text[],
      ${batches.map(({ seq }) => String(seq))}::text[], ${batches.map(({ atMs }) => String(Math.floor(atMs) || 0))}::text[],
      ${batches.map(({ isClosed }) => isClosed)}::bool[]) AS folded(id, service, seq, at_ms, closed)
    ON CONFLICT (id) DO UPDATE SET folded_seq = GREATEST(held.folded_seq, excluded.folded_seq),
      folded_at = GREATEST(held.folded_at, excluded.folded_at), closed_at = COALESCE(held.closed_at, excluded.closed_at)`;
}

/** Row of the fold itself among the incarnations: how far it has come where no node is alive. No node has this id, theirs are random. */
const FOLD_ID = 'fold';

/** @param readAt store time before the journals were read */
export async function upsertLastFold(tx: Tx, readAt: Date): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO incarnations AS held (id, service, folded_at) VALUES (${FOLD_ID}, 'worker', ${readAt})
    ON CONFLICT (id) DO UPDATE SET folded_at = GREATEST(held.folded_at, excluded.folded_at)`;
}

/**
 * Up to when everything journaled is in the ledger: the oldest last fold of the nodes that flushed within `aliveMs` of the fold, else the fold itself.
 * @returns null before the first fold
 */
export async function readAsOf(db: PrismaService | Tx, aliveMs: number): Promise<Date | null> {
  const [row] = await db.$queryRaw<{ asOf: Date | null }[]>`
    SELECT LEAST(fold.folded_at, min(node.folded_at)) AS "asOf" FROM incarnations fold
    LEFT JOIN incarnations node ON node.id <> ${FOLD_ID} AND node.closed_at IS NULL AND node.folded_at >= fold.folded_at - make_interval(secs => ${aliveMs} / 1000.0)
    WHERE fold.id = ${FOLD_ID} GROUP BY fold.folded_at`;
  return row?.asOf ?? null;
}

export interface PeriodRow {
  readonly tenant: string;
  readonly periodId: string;
  readonly startAt: Date;
  readonly endAt: Date;
  readonly timezone: string;
  readonly isTransition?: boolean;
}

/** Those of some tenants' periods that are remembered already: as good as all, but in the first seconds of a month. */
export function readKnownPeriods(tx: Tx, pairs: readonly { readonly tenant: string; readonly periodId: string }[]): Promise<{ tenant: string; periodId: string }[]> {
  return tx.$queryRaw`
    SELECT tenant, period_id AS "periodId" FROM usage_periods
    JOIN unnest(${pairs.map(({ tenant }) => tenant)}::text[], ${pairs.map(({ periodId }) => periodId)}::text[]) AS asked(tenant, period_id) USING (tenant, period_id)`;
}

/** Remembers the periods that were counted in, as they were then: a later change of zone must not move them. In a fixed order, as above. */
export async function upsertPeriods(tx: Tx, periods: readonly PeriodRow[]): Promise<void> {
  if (periods.length === 0) return;
  const sorted = [...periods].sort((a, b) => (`${a.tenant}|${a.periodId}` < `${b.tenant}|${b.periodId}` ? -1 : 1));
  const column = (of: (row: PeriodRow) => string): string[] => sorted.map(of);
  await tx.$executeRaw`
    INSERT INTO usage_periods (tenant, period_id, start_at, end_at, timezone, is_transition)
    SELECT tenant, period_id, start_at::timestamptz, end_at::timestamptz, timezone, is_transition
    FROM unnest(${column(({ tenant }) => tenant)}::text[], ${column(({ periodId }) => periodId)}::text[], ${column(({ startAt }) => startAt.toISOString())}::text[],
      ${column(({ endAt }) => endAt.toISOString())}::text[], ${column(({ timezone }) => timezone)}::text[], ${sorted.map(({ isTransition }) => isTransition ?? false)}::bool[])
      AS counted(tenant, period_id, start_at, end_at, timezone, is_transition)
    ON CONFLICT DO NOTHING`;
}

/** Overwrites a minute with larger counts; a minute that Redis has lost in part keeps what was folded. */
export async function upsertTraffic(tx: Tx, minute: Date, rows: readonly TrafficMinute[]): Promise<void> {
  if (rows.length === 0) return;
  const column = (of: (row: TrafficMinute) => string | number): string[] => rows.map((row) => String(of(row)));
  await tx.$executeRaw`
    INSERT INTO traffic_minutes AS held (tenant, minute, allowed, units, denied, denied_by_limit)
    SELECT tenant, ${minute}, allowed::bigint, units::bigint, denied::bigint, denied_by_limit::jsonb
    FROM unnest(${column((row) => row.tenant)}::text[], ${column((row) => row.allowed)}::text[], ${column((row) => row.units)}::text[],
      ${column((row) => row.denied)}::text[], ${column((row) => JSON.stringify(row.deniedByLimit))}::text[])
      AS folded(tenant, allowed, units, denied, denied_by_limit)
    ON CONFLICT (tenant, minute) DO UPDATE SET allowed = GREATEST(held.allowed, excluded.allowed), units = GREATEST(held.units, excluded.units),
      denied = GREATEST(held.denied, excluded.denied),
      denied_by_limit = CASE WHEN excluded.denied >= held.denied THEN excluded.denied_by_limit ELSE held.denied_by_limit END`;
}
