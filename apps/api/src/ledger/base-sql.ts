import type { PrismaService, Tx } from '../database/prisma.service';
import type { TenantPeriod } from '../usage/meter-figures';
import type { TouchedPeriod } from './touch-usage';

export interface DuePeriod extends TouchedPeriod {
  /** The tenant's present generation, and the revision of its published policy. */
  readonly generation: number;
  readonly revision: number;
  readonly startAt: Date;
  readonly endAt: Date;
  readonly timezone: string;
}

/** What is known of some periods, with their tenants' generations; periods that nobody has counted in, and unknown tenants, are left out. */
export function readPeriods(db: PrismaService | Tx, touched: readonly TouchedPeriod[]): Promise<DuePeriod[]> {
  return db.$queryRaw`
    SELECT period.tenant, period.period_id AS "periodId", period.start_at AS "startAt", period.end_at AS "endAt", period.timezone, tenant.generation, tenant.revision
    FROM unnest(${touched.map(({ tenant }) => tenant)}::text[], ${touched.map(({ periodId }) => periodId)}::text[]) AS wanted(tenant, period_id)
    JOIN usage_periods period USING (tenant, period_id) JOIN tenants tenant ON tenant.slug = period.tenant
    ORDER BY period.tenant, period.period_id`;
}

/** Periods whose counters may still be asked: those that run, and those that ended within two days of `now`. */
export function readLivePeriods(db: PrismaService | Tx, tenants: readonly string[], now: Date): Promise<TouchedPeriod[]> {
  return db.$queryRaw`
    SELECT tenant, period_id AS "periodId" FROM usage_periods
    WHERE tenant = ANY(${[...tenants]}::text[]) AND end_at > ${now}::timestamptz - interval '48 hours'`;
}

/** Periods as the ledger takes them, each once, by tenant. */
export function periodsByTenant(due: readonly DuePeriod[]): ReadonlyMap<string, TenantPeriod[]> {
  const byTenant = new Map<string, TenantPeriod[]>();
  for (const { tenant, periodId, startAt, endAt, timezone } of due) {
    const known = byTenant.get(tenant) ?? [];
    if (!known.some(({ id }) => id === periodId)) known.push({ id: periodId, startMs: startAt.getTime(), endMs: endAt.getTime(), timezone });
    byTenant.set(tenant, known);
  }
  return byTenant;
}

export interface UsageTouchRow extends TouchedPeriod {
  readonly id: bigint;
}

/** Oldest notes first. Two workers may read the same ones: what follows from them is harmless to repeat. */
export function readTouches(db: PrismaService, limit: number): Promise<UsageTouchRow[]> {
  return db.$queryRaw`SELECT id, tenant, period_id AS "periodId" FROM usage_touches ORDER BY id LIMIT ${limit}`;
}

export async function deleteTouches(db: PrismaService | Tx, ids: readonly bigint[]): Promise<void> {
  if (ids.length > 0) await db.$executeRaw`DELETE FROM usage_touches WHERE id = ANY(${ids.map(String)}::text[]::bigint[])`;
}
