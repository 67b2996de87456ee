import type { QuotaName } from '@quotaplane/rate-limit';
import type { JournalBatch } from '@quotaplane/usage';
import type { PrismaService, Tx } from '../database/prisma.service';
import type { TouchedPeriod } from './touch-usage';

/** What the journals say of one counter. */
export interface JournaledCounter extends QuotaName {
  readonly admitted: bigint;
  readonly refunded: bigint;
  readonly doubtful: bigint;
}

export const counterId = ({ tenant, meter, periodId, part, generation }: QuotaName): string => [tenant, periodId, meter, part, generation].join('|');

const NAMES_PER_QUERY = 5_000;

interface NameColumns {
  readonly tenants: string[];
  readonly periodIds: string[];
  readonly meters: string[];
  readonly parts: number[];
  readonly generations: number[];
}

const columnsOf = (names: readonly QuotaName[]): NameColumns => ({
  tenants: names.map(({ tenant }) => tenant), periodIds: names.map(({ periodId }) => periodId), meters: names.map(({ meter }) => meter),
  parts: names.map(({ part }) => part), generations: names.map(({ generation }) => generation),
});

/** Journals summed by counter; a counter that nobody has journaled for is all 0. In the order of the names. */
export async function readJournaled(db: PrismaService | Tx, names: readonly QuotaName[]): Promise<JournaledCounter[]> {
  const found: JournaledCounter[] = [];
  for (let from = 0; from < names.length; from += NAMES_PER_QUERY) {
    const page = names.slice(from, from + NAMES_PER_QUERY);
    const { tenants, periodIds, meters, parts, generations } = columnsOf(page);
    const rows = await db.$queryRaw<{ admitted: string; refunded: string; doubtful: string }[]>`
      SELECT COALESCE(sum(journal.admitted), 0)::text AS admitted, COALESCE(sum(journal.refunded), 0)::text AS refunded, COALESCE(sum(journal.doubtful), 0)::text AS doubtful
      FROM unnest(${tenants}::text[], ${periodIds}::text[], ${meters}::text[], ${parts}::int[], ${generations}::int[]) WITH ORDINALITY AS name(tenant, period_id, meter, part, generation, place)
      LEFT JOIN usage_journals journal ON journal.tenant = name.tenant AND journal.period_id = name.period_id AND journal.meter = name.meter
        AND journal.part = name.part AND journal.generation = name.generation
      GROUP BY name.place ORDER BY name.place`;
    rows.forEach(({ admitted, refunded, doubtful }, index) => {
      const name = page[index];
      if (name) found.push({ ...name, admitted: BigInt(admitted), refunded: BigInt(refunded), doubtful: BigInt(doubtful) });
    });
  }
  return found;
}

/** Every counter that some periods' journals name. */
export function readCounterNames(db: PrismaService | Tx, periods: readonly TouchedPeriod[]): Promise<QuotaName[]> {
  return db.$queryRaw`
    SELECT DISTINCT journal.tenant, journal.meter, journal.period_id AS "periodId", journal.part, journal.generation
    FROM unnest(${periods.map(({ tenant }) => tenant)}::text[], ${periods.map(({ periodId }) => periodId)}::text[]) AS wanted(tenant, period_id)
    JOIN usage_journals journal USING (tenant, period_id)`;
}

/** What a comparison found of one counter. `isExact`: nothing moved meanwhile, so that the figure replaces the held one; else it only raises it. */
export interface ComparedCounter extends QuotaName {
  readonly counted: bigint;
  readonly recovered: bigint;
  readonly gap: bigint;
  readonly isExact: boolean;
}

/** Sorted by name, so that two workers queue and never deadlock. @returns periods whose figures changed */
export async function upsertCounters(tx: Tx, compared: readonly ComparedCounter[], at: Date): Promise<TouchedPeriod[]> {
  if (compared.length === 0) return [];
  const sorted = [...compared].sort((a, b) => (counterId(a) < counterId(b) ? -1 : 1));
  const { tenants, periodIds, meters, parts, generations } = columnsOf(sorted);
  return tx.$queryRaw`
    WITH held AS (
      SELECT found.*, old.recovered AS old_recovered, old.gap AS old_gap
      FROM unnest(${tenants}::text[], ${periodIds}::text[], ${meters}::text[], ${parts}::int[], ${generations}::int[],
        ${sorted.map(({ counted }) => String(counted))}::text[]::bigint[], ${sorted.map(({ recovered }) => String(recovered))}::text[]::bigint[],
        ${sorted.map(({ gap }) => String(gap))}::text[]::bigint[], ${sorted.map(({ isExact }) => isExact)}::bool[])
        AS found(tenant, period_id, meter, part, generation, counted, recovered, gap, is_exact)
      LEFT JOIN usage_counters old USING (tenant, period_id, meter, part, generation)
    ), written AS (
      INSERT INTO usage_counters AS row (tenant, period_id, meter, part, generation, counted, counted_at, recovered, gap)
      SELECT tenant, period_id, meter, part, generation, counted, ${at},
        CASE WHEN is_exact THEN recovered ELSE GREATEST(recovered, COALESCE(old_recovered, 0)) END, GREATEST(gap, COALESCE(old_gap, 0)) FROM held
      ON CONFLICT (tenant, period_id, meter, part, generation) DO UPDATE SET
        counted = excluded.counted, counted_at = excluded.counted_at, recovered = excluded.recovered, gap = GREATEST(row.gap, excluded.gap)
      RETURNING tenant, period_id, meter, part, generation, recovered, gap
    )
    SELECT DISTINCT tenant, period_id AS "periodId" FROM written JOIN held USING (tenant, period_id, meter, part, generation)
    WHERE written.recovered <> COALESCE(held.old_recovered, 0) OR written.gap <> COALESCE(held.old_gap, 0)`;
}

/** Lives that never said goodbye and have been silent, by the store's time, since before `silentSince`; not those that were booked already. */
export async function readLostLives(db: PrismaService, silentSince: Date, notBefore: Date): Promise<string[]> {
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT id FROM incarnations WHERE closed_at IS NULL AND lost_at IS NULL AND folded_at < ${silentSince} AND folded_at > ${notBefore} AND service <> 'worker'`;
  return rows.map(({ id }) => id);
}

/** Gives lives up; one that the ledger has never heard of, for it died before its first fold, is written down too. */
export async function markLost(tx: Tx, ids: readonly string[], at: Date): Promise<void> {
  if (ids.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO incarnations AS held (id, service, lost_at) SELECT id, '', ${at} FROM unnest(${[...ids].sort()}::text[]) AS lost(id)
    ON CONFLICT (id) DO UPDATE SET lost_at = excluded.lost_at WHERE held.closed_at IS NULL AND held.lost_at IS NULL`;
}

/** When a life was last given up that has not come back. */
export async function readLastLoss(db: PrismaService | Tx): Promise<Date | null> {
  const [row] = await db.$queryRaw<{ at: Date | null }[]>`SELECT max(lost_at) AS at FROM incarnations`;
  return row?.at ?? null;
}

const RETURNS_LOCK = 72_707_371;

/**
 * Until the transaction ends no life that was given up comes back. Whoever books recovered units takes it before reading the journals: what a life brings
 * between that reading and the booking would count twice for good. Taken before any row, by both sides.
 */
export async function holdReturns(tx: Tx): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock_shared(${RETURNS_LOCK})`;
}

/**
 * A life that was given up speaks again: what its journal grows by now may be what was recovered for it, and must not count twice. Called by the
 * fold, in its transaction and before it writes.
 */
export async function takeBackRecovered(tx: Tx, batches: readonly JournalBatch[]): Promise<void> {
  if ((await lostAmong(tx, batches)).length === 0) return;
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(${RETURNS_LOCK})`;
  const back = await lostAmong(tx, batches);
  if (back.length === 0) return;
  const ids = back.map(({ id }) => id);
  const rows = batches.filter(({ incarnation }) => ids.includes(incarnation)).flatMap((batch) => batch.rows);
  const column = (of: (row: (typeof rows)[number]) => string | number | bigint): string[] => rows.map((row) => String(of(row)));
  await tx.$executeRaw`
    UPDATE usage_counters counter SET recovered = GREATEST(0, counter.recovered - grown.units)
    FROM (
      SELECT told.tenant, told.period_id, told.meter, told.part, told.generation,
        sum(GREATEST(0, told.admitted - COALESCE(held.admitted, 0) - GREATEST(0, told.refunded - COALESCE(held.refunded, 0))))::bigint AS units
      FROM unnest(${column((row) => row.tenant)}::text[], ${column((row) => row.periodId)}::text[], ${column((row) => row.meter)}::text[], ${column((row) => row.part)}::text[]::int[],
        ${column((row) => row.generation)}::text[]::int[], ${column((row) => row.class)}::text[], ${column((row) => row.incarnation)}::text[],
        ${column((row) => row.admitted)}::text[]::bigint[], ${column((row) => row.refunded)}::text[]::bigint[])
        AS told(tenant, period_id, meter, part, generation, class, incarnation, admitted, refunded)
      LEFT JOIN usage_journals held USING (tenant, period_id, meter, part, class, generation, incarnation)
      GROUP BY told.tenant, told.period_id, told.meter, told.part, told.generation
    ) grown
    WHERE counter.tenant = grown.tenant AND counter.period_id = grown.period_id AND counter.meter = grown.meter AND counter.part = grown.part
      AND counter.generation = grown.generation`;
  await tx.$executeRaw`UPDATE incarnations SET lost_at = NULL WHERE id = ANY(${ids}::text[])`;
}

const lostAmong = (tx: Tx, batches: readonly JournalBatch[]): Promise<{ id: string }[]> =>
  tx.$queryRaw`SELECT id FROM incarnations WHERE id = ANY(${batches.map(({ incarnation }) => incarnation)}::text[]) AND lost_at IS NOT NULL ORDER BY id`;
