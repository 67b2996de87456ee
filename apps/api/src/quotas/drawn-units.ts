import type { PrismaService, Tx } from '../database/prisma.service';
import type { TenantPolicyRows } from '../outbox/policy-rows';
import { tenantPeriods } from '../tenants/tenant-calendar';
import type { UsageLedger } from '../usage/usage-ledger';
import { drawOf } from './quota-extras';
import { drawsOf } from './quota-outcome';
import { partsUpTo } from './quota-work';

/**
 * Units drawn of each of a tenant's top-ups, by id: the rows of what has ended, and for parts that nobody has settled yet what the ledger's figures of
 * now would make of them.
 */
export async function drawnUnits(db: PrismaService | Tx, ledger: UsageLedger, rows: TenantPolicyRows, now: Date): Promise<ReadonlyMap<string, number>> {
  const { grants } = rows.quotas;
  const drawn = new Map(grants.map(({ id, draws }) => [id, draws.reduce((sum, { units }) => sum + units, 0)]));
  if (grants.length === 0) return drawn;
  const nowMs = now.getTime();
  const parts = partsUpTo(rows, nowMs);
  // Of the part before, too, for the few seconds until it is settled.
  const unsettled = parts.filter(({ startMs }) => startMs <= nowMs).slice(-2);
  const periods = tenantPeriods(rows, { nowMs, before: 1, after: 0 }).filter(({ id }) => unsettled.some(({ period }) => period.id === id));
  const figures = await ledger.figuresOf([rows], new Map([[rows.tenant, periods]]), { db, instant: now });
  for (const stretch of unsettled) {
    for (const [id, units] of drawsOf(grants, stretch, parts, figures, { untilMs: nowMs + 1 })) {
      const grant = grants.find((candidate) => candidate.id === id);
      if (grant && drawOf(grant, stretch) === undefined) drawn.set(id, Math.min(grant.units, (drawn.get(id) ?? 0) + units));
    }
  }
  return drawn;
}
