import type { Tier } from '@quotaplane/contracts';
import type { PrismaService, Tx } from '../database/prisma.service';
import type { TierRow } from '../database/rows';
import { countTenantsByTier } from '../database/tier-sql';
import { notFound } from '../http/caller';
import { tierFrom } from './tiers.mapping';

type Reader = Tx | PrismaService;

/** @throws {DomainError} not_found */
export async function requireTier(client: Reader, slug: string): Promise<TierRow> {
  const row = await client.tier.findUnique({ where: { slug } });
  if (!row) throw notFound();
  return row;
}

/** Tiers with what is counted about them: version in force, tenants on it. One query each, however many tiers. */
export async function readTiers(client: Reader, rows: readonly TierRow[], now: Date): Promise<Tier[]> {
  const ids = rows.map(({ id }) => id);
  const tenants = await countTenantsByTier(client, ids, now);
  const versions = await client.tierVersion.findMany({
    where: { tierId: { in: ids }, effectiveAt: { lte: now } },
    orderBy: [{ effectiveAt: 'desc' }, { number: 'desc' }],
    distinct: ['tierId'],
    select: { tierId: true, number: true },
  });
  const current = new Map(versions.map(({ tierId, number }) => [tierId, number]));
  return rows.map((row) => tierFrom(row, { currentVersion: current.get(row.id) ?? null, tenants: tenants.get(row.id) ?? 0 }));
}

export async function readTier(client: Reader, slug: string, now: Date): Promise<Tier> {
  const [tier] = await readTiers(client, [await requireTier(client, slug)], now);
  if (!tier) throw notFound();
  return tier;
}
