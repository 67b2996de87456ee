import { DomainError, RESERVED_TENANTS, ANONYMOUS_REQUIRES_SCOPE, type FieldError, type TierContent } from '@quotaplane/contracts';
import { isTimeZone } from '@quotaplane/usage';
import { domainErrorOf } from '../database/database-error';
import type { PrismaService, Tx } from '../database/prisma.service';
import { storedTierContent } from '../outbox/policy-rows';

/** The 422 of a field that the schema accepts and the state of the platform does not. */
export const invalidField = (pointer: string, detail: string): DomainError => invalidFields([{ pointer, detail }]);
export const invalidFields = (errors: readonly FieldError[]): DomainError =>
  new DomainError('invalid', `${errors.length} ${errors.length === 1 ? 'field is' : 'fields are'} invalid`, { errors });

/** @throws {DomainError} the slug is kept for the platform itself */
export function refuseReservedSlug(slug: string): void {
  if (RESERVED_TENANTS.some((reserved) => reserved === slug)) throw invalidField('/slug', 'is reserved for the platform itself');
}

/**
 * Both the runtime and Postgres must know a zone: periods are computed by the one, lists by the other.
 * @throws {DomainError} it is not an IANA zone
 */
export async function requireTimeZone(prisma: PrismaService, timezone: string | undefined): Promise<void> {
  if (timezone === undefined) return;
  const isKnown = isTimeZone(timezone) && (await prisma.$queryRaw`SELECT now() AT TIME ZONE ${timezone}::text AS local`.then(() => true, isOtherThanAway));
  if (!isKnown) throw invalidField('/timezone', 'must be an IANA time zone such as Europe/Berlin');
}

/** @throws the error, where the database was away and has said nothing about the zone */
function isOtherThanAway(error: unknown): false {
  if (domainErrorOf(error)?.code === 'store_unavailable') throw error;
  return false;
}

export interface UsableTier {
  readonly id: string;
  readonly slug: string;
}

/**
 * A tier that a tenant can be moved to: known, not archived, published, and for `anonymous` with the limit that protects all.
 * Locks the tier's row against archiving until the transaction ends.
 * @throws {DomainError} invalid at `pointer`
 */
export async function requireUsableTier(tx: Tx, slug: string, tenant: string, pointer = '/tier'): Promise<UsableTier> {
  await tx.$queryRaw`SELECT id FROM tiers WHERE slug = ${slug} FOR SHARE`;
  const tier = await tx.tier.findUnique({ where: { slug }, include: { versions: { orderBy: { number: 'desc' } } } });
  if (!tier) throw invalidField(pointer, `there is no tier ${slug}`);
  if (tier.archivedAt !== null) throw invalidField(pointer, `the tier ${slug} is archived`);
  const newest = tier.versions[0];
  if (!newest) throw invalidField(pointer, `the tier ${slug} has no published version`);
  const hasShield = (content: TierContent): boolean => content.limits.some(({ scope }) => scope === ANONYMOUS_REQUIRES_SCOPE);
  if (tenant === 'anonymous' && !hasShield(storedTierContent(newest.content))) {
    throw invalidField(pointer, 'the tier of callers without credentials must carry a limit of scope global');
  }
  return { id: tier.id, slug };
}
