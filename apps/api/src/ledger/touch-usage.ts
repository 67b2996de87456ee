import type { Tx } from '../database/prisma.service';

export interface TouchedPeriod {
  readonly tenant: string;
  readonly periodId: string;
}

/**
 * Notes that figures have changed by something else than a fold, in the transaction that changes them: the worker then writes their bases to Redis
 * and looks at their thresholds. A row stands until that is done, so that no crash loses it.
 */
export async function touchUsage(tx: Tx, touched: readonly TouchedPeriod[]): Promise<void> {
  const unique = new Map(touched.map(({ tenant, periodId }) => [`${tenant}|${periodId}`, { tenant, periodId }]));
  if (unique.size === 0) return;
  const rows = [...unique.values()];
  await tx.$executeRaw`
    INSERT INTO usage_touches (tenant, period_id) SELECT tenant, period_id
    FROM unnest(${rows.map(({ tenant }) => tenant)}::text[], ${rows.map(({ periodId }) => periodId)}::text[]) AS touched(tenant, period_id)`;
}

/**
 * The same of published tenants, for the periods whose counters may still be asked: a lowered allowance may be below a threshold that nobody will cross any
 * more, and a fold that commits while a generation is raised writes the base of the one before.
 */
export async function touchPublished(tx: Tx, tenants: readonly string[], now: Date): Promise<void> {
  if (tenants.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO usage_touches (tenant, period_id) SELECT tenant, period_id FROM usage_periods
    WHERE tenant = ANY(${[...tenants]}::text[]) AND start_at <= ${now} AND end_at > ${now}::timestamptz - interval '48 hours'`;
}
