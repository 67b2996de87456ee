import type { Tx } from './prisma.service';

export interface TierUse {
  readonly id: string;
  readonly slug: string;
  readonly archivedAt: Date | null;
}

/**
 * Locks a tier so that it cannot be archived until the transaction ends. FOR KEY SHARE: any number of assignments hold it at once.
 * @returns null when there is no such tier
 */
export async function lockTierForUse(tx: Tx, slug: string): Promise<TierUse | null> {
  const rows = await tx.$queryRaw<TierUse[]>`SELECT id, slug, archived_at AS "archivedAt" FROM tiers WHERE slug = ${slug} FOR KEY SHARE`;
  return rows[0] ?? null;
}

/** Locks a tier against every assignment until the transaction ends. FOR UPDATE waits for those that {@link lockTierForUse} let in. */
export async function lockTierForArchive(tx: Tx, slug: string): Promise<TierUse | null> {
  const rows = await tx.$queryRaw<TierUse[]>`SELECT id, slug, archived_at AS "archivedAt" FROM tiers WHERE slug = ${slug} FOR UPDATE`;
  return rows[0] ?? null;
}

/** Tenants of each tier: those whose assignment in force names it. Deleted tenants do not count. */
export async function countTenantsByTier(tx: Pick<Tx, '$queryRaw'>, tierIds: readonly string[], now: Date): Promise<Map<string, number>> {
  const rows = await tx.$queryRaw<{ tierId: string; tenants: bigint }[]>`
    SELECT a.tier_id AS "tierId", count(*) AS tenants
    FROM tier_assignments a JOIN tenants t ON t.id = a.tenant_id AND t.deleted_at IS NULL
    WHERE a.tier_id = ANY(${[...tierIds]}::uuid[]) AND a.effective_at <= ${now}
      AND NOT EXISTS (SELECT 1 FROM tier_assignments later WHERE later.tenant_id = a.tenant_id AND later.effective_at > a.effective_at AND later.effective_at <= ${now})
    GROUP BY a.tier_id`;
  return new Map(rows.map(({ tierId, tenants }) => [tierId, Number(tenants)]));
}

/** Tenants that have this tier now or are scheduled to get it. */
export async function countTenantsNowOrLater(tx: Tx, tierId: string, now: Date): Promise<number> {
  const [row] = await tx.$queryRaw<{ tenants: bigint }[]>`
    SELECT count(DISTINCT a.tenant_id) AS tenants
    FROM tier_assignments a JOIN tenants t ON t.id = a.tenant_id AND t.deleted_at IS NULL
    WHERE a.tier_id = ${tierId}::uuid
      AND NOT EXISTS (SELECT 1 FROM tier_assignments later WHERE later.tenant_id = a.tenant_id AND later.effective_at > a.effective_at AND later.effective_at <= ${now})`;
  return Number(row?.tenants ?? 0n);
}
