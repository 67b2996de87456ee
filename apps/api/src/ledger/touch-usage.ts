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
  if (unique.size > 0) await tx.usageTouch.createMany({ data: [...unique.values()] });
}
