import type { UsageItem } from '@quotaplane/contracts';
import type { PrismaService } from '../database/prisma.service';

/** Names the one event of a tenant, meter, period and percentage. */
export const thresholdKey = (tenant: string, meter: string, periodId: string, percent: number): string => ['threshold', tenant, meter, periodId, percent].join('|');

/** Thresholds that some tenants have reached in some periods, lowest first, by tenant, period and meter. */
export async function readReached(
  db: PrismaService, tenants: readonly string[], periods: readonly { readonly startMs: number; readonly endMs: number }[],
): Promise<(tenant: string, periodId: string, meter: string) => UsageItem['thresholds']> {
  if (periods.length === 0) return () => [];
  const since = new Date(Math.min(...periods.map(({ startMs }) => startMs)));
  const rows = await db.event.findMany({
    where: { tenant: { in: [...tenants] }, type: 'usage.threshold_reached', at: { gte: since } },
    select: { dedupeKey: true, at: true },
  });
  const reached = new Map<string, UsageItem['thresholds'][number][]>();
  for (const { dedupeKey, at } of rows) {
    const [, tenant, meter, periodId, percent] = dedupeKey.split('|');
    const key = [tenant, periodId, meter].join('|');
    reached.set(key, [...(reached.get(key) ?? []), { percent: Number(percent), reachedAt: at.toISOString() }]);
  }
  return (tenant, periodId, meter) => (reached.get([tenant, periodId, meter].join('|')) ?? []).sort((a, b) => a.percent - b.percent);
}
