import { DomainError } from '@quotaplane/contracts';
import type { Tx } from '../database/prisma.service';
import { lockTierForUse } from '../database/tier-sql';

/**
 * Takes a tier into use inside a change: it must exist, not be archived and have a published version. Holds it against archiving
 * until the transaction ends, so that nobody is moved onto a tier that goes away meanwhile.
 * @throws {DomainError} invalid, without a pointer: the caller knows which field named the tier
 */
export async function requireUsableTier(tx: Tx, slug: string): Promise<{ id: string; slug: string }> {
  const tier = await lockTierForUse(tx, slug);
  if (!tier) throw new DomainError('invalid', `There is no tier ${slug}`);
  if (tier.archivedAt) throw new DomainError('invalid', `The tier ${slug} is archived`);
  const versions = await tx.tierVersion.count({ where: { tierId: tier.id } });
  if (versions === 0) throw new DomainError('invalid', `The tier ${slug} has no published version yet`);
  return { id: tier.id, slug: tier.slug };
}
