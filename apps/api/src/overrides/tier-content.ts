import type { TierContent } from '@quotaplane/contracts';
import type { PrismaService, Tx } from '../database/prisma.service';
import { storedTierContent } from '../outbox/policy-rows';
import { tiersOf } from '../tenants/tenants.mapping';

const WITH_CONTENT = {
  assignments: { include: { tier: { select: { slug: true, versions: { orderBy: { effectiveAt: 'asc' } } } } }, orderBy: { effectiveAt: 'asc' } },
} as const;

/** Content in force now of some tenants' tiers, by tenant id. A tenant whose tier was never published is left out. */
export async function currentContents(db: PrismaService | Tx, tenantIds: readonly string[], now: Date): Promise<ReadonlyMap<string, TierContent>> {
  const tenants = await db.tenant.findMany({ where: { id: { in: [...tenantIds] } }, include: WITH_CONTENT });
  return new Map(tenants.flatMap((row) => {
    const tierId = tiersOf(row, now).inForce?.tierId;
    const versions = row.assignments.find((assignment) => assignment.tierId === tierId)?.tier.versions ?? [];
    const version = versions.findLast(({ effectiveAt }) => effectiveAt <= now) ?? versions[0];
    return version ? [[row.id, storedTierContent(version.content)] as const] : [];
  }));
}
