import type { PrismaService, Tx } from '../database/prisma.service';
import type { CarryWrite, DrawWrite } from './quota-outcome';

/** Writes absolute figures; final ones stay as they are. Sorted by key, so that two writers never deadlock. @returns how many changed */
export async function upsertDraws(tx: Tx, unsorted: readonly DrawWrite[]): Promise<number> {
  if (unsorted.length === 0) return 0;
  const key = (row: DrawWrite): string => `${row.topUpId}|${row.periodId}|${row.part}`;
  const rows = [...unsorted].sort((a, b) => (key(a) < key(b) ? -1 : 1));
  return tx.$executeRaw`
    INSERT INTO top_up_draws AS held (top_up_id, period_id, part, units, is_final)
    SELECT top_up_id::uuid, period_id, part, units::bigint, is_final
    FROM unnest(${rows.map(({ topUpId }) => topUpId)}::text[], ${rows.map(({ periodId }) => periodId)}::text[], ${rows.map(({ part }) => part)}::int[],
      ${rows.map(({ units }) => String(units))}::text[], ${rows.map(({ isFinal }) => isFinal)}::bool[]) AS drawn(top_up_id, period_id, part, units, is_final)
    ON CONFLICT (top_up_id, period_id, part) DO UPDATE SET units = excluded.units, is_final = excluded.is_final
    WHERE NOT held.is_final AND (held.units, held.is_final) IS DISTINCT FROM (excluded.units, excluded.is_final)`;
}

/** As {@link upsertDraws}. */
export async function upsertCarries(tx: Tx, unsorted: readonly CarryWrite[]): Promise<number> {
  if (unsorted.length === 0) return 0;
  const key = (row: CarryWrite): string => `${row.tenant}|${row.periodId}|${row.meter}`;
  const rows = [...unsorted].sort((a, b) => (key(a) < key(b) ? -1 : 1));
  return tx.$executeRaw`
    INSERT INTO usage_carries AS held (tenant, period_id, meter, units, is_final)
    SELECT tenant, period_id, meter, units::bigint, is_final
    FROM unnest(${rows.map(({ tenant }) => tenant)}::text[], ${rows.map(({ periodId }) => periodId)}::text[], ${rows.map(({ meter }) => meter)}::text[],
      ${rows.map(({ units }) => String(units))}::text[], ${rows.map(({ isFinal }) => isFinal)}::bool[]) AS carried(tenant, period_id, meter, units, is_final)
    ON CONFLICT (tenant, period_id, meter) DO UPDATE SET units = excluded.units, is_final = excluded.is_final
    WHERE NOT held.is_final AND (held.units, held.is_final) IS DISTINCT FROM (excluded.units, excluded.is_final)`;
}

/** Tenants whose quota numbers had to change by now, one page in slug order. */
export async function dueTenants(db: PrismaService, now: Date, after: string, limit: number): Promise<string[]> {
  const rows = await db.$queryRaw<{ slug: string }[]>`
    SELECT slug FROM tenants WHERE quota_due_at <= ${now} AND deleted_at IS NULL AND slug COLLATE "C" > ${after} ORDER BY slug COLLATE "C" LIMIT ${limit}`;
  return rows.map(({ slug }) => slug);
}

/** Locks those of them that nobody else works on; the others are left out, for their worker or the next round. */
export async function lockDueTenants(tx: Tx, slugs: readonly string[], now: Date): Promise<string[]> {
  const rows = await tx.$queryRaw<{ slug: string }[]>`
    SELECT slug FROM tenants WHERE slug = ANY(${[...slugs]}::text[]) AND quota_due_at <= ${now} ORDER BY id FOR NO KEY UPDATE SKIP LOCKED`;
  return rows.map(({ slug }) => slug);
}

/** Sets when tenants are due; the caller holds their row locks. */
export async function saveQuotaDue(tx: Tx, rows: readonly { readonly id: string; readonly dueMs: number | null }[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.$executeRaw`
    UPDATE tenants SET quota_due_at = to_timestamp(due.ms::bigint / 1000.0)
    FROM unnest(${rows.map(({ id }) => id)}::text[], ${rows.map(({ dueMs }) => (dueMs === null ? null : String(dueMs)))}::text[]) AS due(id, ms)
    WHERE tenants.id = due.id::uuid AND quota_due_at IS DISTINCT FROM to_timestamp(due.ms::bigint / 1000.0)`;
}

/** Has the sweep publish tenants again, whatever they were due for. Locks them in the order of their ids, as publishers do. */
export async function makeDue(tx: Tx, slugs: readonly string[], now: Date): Promise<void> {
  if (slugs.length === 0) return;
  await tx.$executeRaw`
    WITH held AS (SELECT id FROM tenants WHERE slug = ANY(${[...slugs]}::text[]) AND deleted_at IS NULL ORDER BY id FOR NO KEY UPDATE)
    UPDATE tenants SET quota_due_at = LEAST(quota_due_at, ${now}::timestamptz) FROM held WHERE tenants.id = held.id`;
}
