import type { UsageSums } from '@quotaplane/usage';
import type { PrismaService } from '../database/prisma.service';

export interface UsageSumRow extends UsageSums {
  readonly tenant: string;
  readonly meter: string;
  readonly periodId: string;
}

/** Sums over all incarnations, parts, classes and generations. Read as text: a sum may pass 2^63. */
export async function readUsageSums(db: PrismaService, tenants: readonly string[], periodIds: readonly string[]): Promise<UsageSumRow[]> {
  const rows = await db.$queryRaw<{ tenant: string; meter: string; periodId: string; admitted: string; refunded: string; degraded: string }[]>`
    SELECT tenant, meter, period_id AS "periodId", sum(admitted)::text AS admitted, sum(refunded)::text AS refunded, sum(degraded)::text AS degraded
    FROM usage_journals WHERE tenant = ANY(${[...tenants]}::text[]) AND period_id = ANY(${[...periodIds]}::text[])
    GROUP BY tenant, meter, period_id`;
  return rows.map((row) => ({ ...row, admitted: BigInt(row.admitted), refunded: BigInt(row.refunded), degraded: BigInt(row.degraded) }));
}
