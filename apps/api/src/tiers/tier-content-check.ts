import { ANONYMOUS_REQUIRES_SCOPE, DomainError, type FieldError, type TierContent } from '@quotaplane/contracts';
import type { Tx } from '../database/prisma.service';

const ANONYMOUS = 'anonymous';

/**
 * Holds a tier's content against what the schema cannot see: endpoint classes that exist, and the global limit that the anonymous tier
 * must carry, for an attacker has any number of addresses.
 * @throws {DomainError} invalid
 */
export async function requireSoundContent(tx: Tx, slug: string, content: TierContent): Promise<void> {
  const named = [...new Set(content.limits.flatMap(({ endpointClass }) => endpointClass ?? []))];
  const found = await tx.endpointClass.findMany({ where: { slug: { in: named } }, select: { slug: true } });
  const known = new Set(found.map((row) => row.slug));
  const errors: FieldError[] = content.limits.flatMap(({ endpointClass }, index) =>
    endpointClass === undefined || known.has(endpointClass) ? [] : [{ pointer: `/limits/${index}/endpointClass`, detail: `${endpointClass} is not an endpoint class` }],
  );
  if (slug === ANONYMOUS && !content.limits.some(({ scope }) => scope === ANONYMOUS_REQUIRES_SCOPE)) {
    errors.push({ pointer: '/limits', detail: 'the anonymous tier must carry a limit with scope global' });
  }
  if (errors.length > 0) throw new DomainError('invalid', 'The tier cannot hold this', { errors });
}
