import type { Override } from '@quotaplane/contracts';
import type { PrismaService } from '../database/prisma.service';
import { Prisma } from '../database/rows';

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
  const ids = ofState(state, now);
  const [counted] = await db.$queryRaw<{ found: bigint }[]>`SELECT count(*) AS found FROM (${ids}) found`;
  if (Number(counted?.found ?? 0n) > FEW) return where;
  const rows = await db.$queryRaw<{ id: string }[]>`SELECT id::text FROM overrides WHERE id IN (${ids})`;
  return { id: { in: rows.map(({ id }) => id) }, ...where };
}

/** At least those of the state, one more than few at most of each kind, by the indexes of start and end. */
function ofState(state: 'scheduled' | 'active' | 'ended', now: Date): Prisma.Sql {
  // In the order of the index: without one, the planner reads the table from its start where many match.
  const some = (condition: Prisma.Sql, order: 'from_at' | 'until_at'): Prisma.Sql =>
    Prisma.sql`(SELECT id FROM overrides WHERE reverted_at IS NULL AND ${condition} ORDER BY ${Prisma.raw(order)} LIMIT ${FEW + 1})`;
  if (state === 'scheduled') return some(Prisma.sql`from_at > ${now}`, 'from_at');
  if (state === 'ended') return some(Prisma.sql`until_at <= ${now}`, 'until_at');
  return Prisma.sql`${some(Prisma.sql`until_at > ${now}`, 'until_at')} UNION ALL ${some(Prisma.sql`until_at IS NULL`, 'until_at')}`;
}
