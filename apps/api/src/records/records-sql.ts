import type { Tx } from '../database/prisma.service';
import type { RecordPeriod } from './record-periods';

/** One record as it goes into the ledger. */
export interface RecordRow {
  readonly index: number;
  readonly tenant: string;
  readonly source: string;
  readonly id: string;
  readonly periodId: string;
  readonly meter: string;
  readonly part: number;
  readonly units: bigint;
  readonly at: Date;
  readonly kind: RecordKind;
  readonly reason: string | null;
}

/** `external` came before its period's end, `late` after it; a `correction` takes off; an `adjustment` came after the period was closed. */
export type RecordKind = 'external' | 'late' | 'correction' | 'adjustment';

/** What `usage_external` holds of one key. */
export interface ExternalSums {
  readonly tenant: string;
  readonly periodId: string;
  readonly meter: string;
  readonly part: number;
  readonly external: bigint;
  readonly late: bigint;
  readonly corrections: bigint;
  readonly adjusted: bigint;
}

/*
 * Locks are taken in one order by every request: rows of periods, then ids, then raw rows, then sums, each kind sorted. So requests that share
 * records or sums queue and never deadlock. A closing locks a period alone.
 */

/** Periods of some tenants that touch a span, as recorded. */
export async function readRecordedPeriods(tx: Tx, tenants: readonly string[], from: Date, to: Date): Promise<RecordPeriod[]> {
  return tx.usagePeriod.findMany({
    where: { tenant: { in: [...tenants] }, startAt: { lte: to }, endAt: { gt: from } },
    select: { tenant: true, periodId: true, startAt: true, endAt: true, timezone: true, isTransition: true },
  });
}

/** Records periods that are not known yet. Sorted, or two requests could each hold a new row that the other waits for. */
export async function insertPeriods(tx: Tx, unsorted: readonly RecordPeriod[]): Promise<void> {
  const rows = [...unsorted].sort((a, b) => compare([a.tenant, a.periodId], [b.tenant, b.periodId]));
  await tx.usagePeriod.createMany({ data: rows, skipDuplicates: true });
}

/**
 * Holds periods open, or sees that they are closed: FOR SHARE waits for a closing, which takes its row FOR UPDATE, and lets other records pass.
 * @returns keys `tenant|periodId` of the closed ones
 */
export async function lockPeriods(tx: Tx, periods: readonly RecordPeriod[]): Promise<ReadonlySet<string>> {
  const rows = await tx.$queryRaw<{ tenant: string; periodId: string; isClosed: boolean }[]>`
    SELECT held.tenant, held.period_id AS "periodId", held.closed_at IS NOT NULL AS "isClosed" FROM usage_periods held
    JOIN unnest(${periods.map(({ tenant }) => tenant)}::text[], ${periods.map(({ periodId }) => periodId)}::text[]) AS wanted(tenant, period_id)
      ON held.tenant = wanted.tenant AND held.period_id = wanted.period_id
    ORDER BY held.tenant, held.period_id FOR SHARE OF held`;
  return new Set(rows.filter(({ isClosed }) => isClosed).map(({ tenant, periodId }) => `${tenant}|${periodId}`));
}

/**
 * Claims (tenant, source, id) for good: an id that another request is claiming is waited for. Sorted, as told above.
 * @param rows no two of the same identity
 * @returns `index` of those that were not known
 */
export async function claimIds(tx: Tx, rows: readonly RecordRow[], receivedAt: Date): Promise<ReadonlySet<number>> {
  const sorted = inOrder(rows);
  const claimed = await tx.$queryRaw<{ tenant: string; source: string; id: string }[]>`
    INSERT INTO usage_record_ids (tenant, source, record_id, received_at)
    SELECT tenant, source, record_id, ${receivedAt} FROM unnest(${sorted.map(({ tenant }) => tenant)}::text[], ${sorted.map(({ source }) => source)}::text[],
      ${sorted.map(({ id }) => id)}::text[]) AS sent(tenant, source, record_id)
    ON CONFLICT (tenant, source, record_id) DO NOTHING RETURNING tenant, source, record_id AS id`;
  const indexes = new Map(rows.map((row) => [identityKey(row), row.index]));
  return new Set(claimed.flatMap((row) => indexes.get(identityKey(row)) ?? []));
}

/** Gives ids back within the transaction that has claimed them. */
export async function forgetIds(tx: Tx, rows: readonly RecordRow[]): Promise<void> {
  await tx.$executeRaw`
    DELETE FROM usage_record_ids USING unnest(${rows.map(({ tenant }) => tenant)}::text[], ${rows.map(({ source }) => source)}::text[], ${rows.map(({ id }) => id)}::text[])
      AS own(tenant, source, record_id)
    WHERE usage_record_ids.tenant = own.tenant AND usage_record_ids.source = own.source AND usage_record_ids.record_id = own.record_id`;
}

/**
 * Writes raw rows. One whose id stands in its period already is left: its memory of 35 days was dropped, and a period can be looked into for longer.
 * @returns `index` of the written ones
 */
export async function insertRecords(tx: Tx, rows: readonly RecordRow[], receivedAt: Date): Promise<ReadonlySet<number>> {
  const sorted = inOrder(rows);
  const column = (of: (row: RecordRow) => string | number | bigint | null): (string | null)[] => sorted.map((row) => {
    const value = of(row);
    return value === null ? null : String(value);
  });
  const written = await tx.$queryRaw<{ tenant: string; source: string; id: string }[]>`
    INSERT INTO usage_records (period_id, tenant, source, record_id, meter, part, units, at, received_at, kind, reason)
    SELECT period_id, tenant, source, record_id, meter, part::int, units::bigint, at::timestamptz, ${receivedAt}, kind, reason
    FROM unnest(${column(({ periodId }) => periodId)}::text[], ${column(({ tenant }) => tenant)}::text[], ${column(({ source }) => source)}::text[],
      ${column(({ id }) => id)}::text[], ${column(({ meter }) => meter)}::text[], ${column(({ part }) => part)}::text[], ${column(({ units }) => units)}::text[],
      ${column(({ at }) => at.toISOString())}::text[], ${column(({ kind }) => kind)}::text[], ${column(({ reason }) => reason)}::text[])
      AS sent(period_id, tenant, source, record_id, meter, part, units, at, kind, reason)
    ON CONFLICT (period_id, tenant, source, record_id) DO NOTHING RETURNING tenant, source, record_id AS id`;
  const indexes = new Map(rows.map((row) => [identityKey(row), row.index]));
  return new Set(written.flatMap((row) => indexes.get(identityKey(row)) ?? []));
}

/** Sums of some keys as they stand; keys without any are left out. */
export async function readSums(tx: Tx, keys: readonly Pick<ExternalSums, 'tenant' | 'periodId' | 'meter' | 'part'>[]): Promise<ExternalSums[]> {
  return tx.$queryRaw<ExternalSums[]>`
    SELECT held.tenant, held.period_id AS "periodId", held.meter, held.part, external, late, corrections, adjusted FROM usage_external held
    JOIN unnest(${keys.map(({ tenant }) => tenant)}::text[], ${keys.map(({ periodId }) => periodId)}::text[], ${keys.map(({ meter }) => meter)}::text[],
      ${keys.map(({ part }) => part)}::int[]) AS wanted(tenant, period_id, meter, part)
      ON held.tenant = wanted.tenant AND held.period_id = wanted.period_id AND held.meter = wanted.meter AND held.part = wanted.part`;
}

/** Adds to sums. Sorted by key, as told above. */
export async function addSums(tx: Tx, unsorted: readonly ExternalSums[]): Promise<void> {
  const rows = [...unsorted].sort((a, b) => compare([a.tenant, a.periodId, a.meter], [b.tenant, b.periodId, b.meter]) || a.part - b.part);
  const column = (of: (row: ExternalSums) => string | bigint): string[] => rows.map((row) => String(of(row)));
  await tx.$executeRaw`
    INSERT INTO usage_external AS held (tenant, period_id, meter, part, external, late, corrections, adjusted)
    SELECT tenant, period_id, meter, part, external::bigint, late::bigint, corrections::bigint, adjusted::bigint
    FROM unnest(${column(({ tenant }) => tenant)}::text[], ${column(({ periodId }) => periodId)}::text[], ${column(({ meter }) => meter)}::text[],
      ${rows.map(({ part }) => part)}::int[], ${column(({ external }) => external)}::text[], ${column(({ late }) => late)}::text[],
      ${column(({ corrections }) => corrections)}::text[], ${column(({ adjusted }) => adjusted)}::text[])
      AS added(tenant, period_id, meter, part, external, late, corrections, adjusted)
    ON CONFLICT (tenant, period_id, meter, part) DO UPDATE SET external = held.external + excluded.external, late = held.late + excluded.late,
      corrections = held.corrections + excluded.corrections, adjusted = held.adjusted + excluded.adjusted`;
}

/** Of texts that may hold any character, so that no two identities are one key. */
export const identityKey = ({ tenant, source, id }: { readonly tenant: string; readonly source: string; readonly id: string }): string => JSON.stringify([tenant, source, id]);

const inOrder = (rows: readonly RecordRow[]): RecordRow[] => [...rows].sort((a, b) => compare([a.tenant, a.source, a.id], [b.tenant, b.source, b.id]));

/** By code units: any order will do that is everyone's. */
function compare(left: readonly string[], right: readonly string[]): number {
  const index = left.findIndex((part, at) => part !== right[at]);
  return index < 0 ? 0 : (left[index] ?? '') < (right[index] ?? '') ? -1 : 1;
}
