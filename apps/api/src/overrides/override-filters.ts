import type { Override } from '@quotaplane/contracts';
import type { PrismaService } from '../database/prisma.service';
import type { Prisma } from '../database/rows';

/** Overrides of a state are read whole up to this number; where there are more, the newest of them are near at hand in the order of the list. */
const FEW = 2_000;

/** The state is a matter of the clock. */
export function whereState(state: Override['state'], now: Date): Prisma.OverrideWhereInput {
  if (state === 'reverted') return { revertedAt: { not: null } };
  if (state === 'ended') return { revertedAt: null, until: { lte: now } };
  const isOpen = { revertedAt: null, OR: [{ until: null }, { until: { gt: now } }] };
  return state === 'scheduled' ? { ...isOpen, from: { gt: now } } : { ...isOpen, from: { lte: now } };
}

/**
 * The same for a list of all tenants: few overrides of a state in a million old ones are named by their ids, for the list's own index would be read to its end.
 * Reverted ones have an index in its order.
 */
export async function whereStateOfAll(db: PrismaService, state: Override['state'], now: Date): Promise<Prisma.OverrideWhereInput> {
  const where = whereState(state, now);
  if (state === 'reverted') return where;
  const ids = await readIds(db, state, now);
  return ids.length > FEW ? where : { id: { in: ids }, ...where };
}

async function readIds(db: PrismaService, state: 'scheduled' | 'active' | 'ended', now: Date): Promise<string[]> {
  const rows = state === 'scheduled'
    ? await db.$queryRaw<{ id: string }[]>`SELECT id::text FROM overrides WHERE reverted_at IS NULL AND from_at > ${now} LIMIT ${FEW + 1}`
    : state === 'ended'
      ? await db.$queryRaw<{ id: string }[]>`SELECT id::text FROM overrides WHERE reverted_at IS NULL AND until_at <= ${now} LIMIT ${FEW + 1}`
      : await db.$queryRaw<{ id: string }[]>`
        (SELECT id::text FROM overrides WHERE reverted_at IS NULL AND until_at > ${now} LIMIT ${FEW + 1})
        UNION ALL (SELECT id::text FROM overrides WHERE reverted_at IS NULL AND until_at IS NULL LIMIT ${FEW + 1})`;
  return rows.map(({ id }) => id);
}
