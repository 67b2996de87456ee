import type { PrismaService } from '../database/prisma.service';
import { Prisma } from '../database/rows';

/** Ids of the statements whose periods start in a month, newest closing first, by the index of (month, closing). */
export async function readMonthPage(db: PrismaService, month: string, after: readonly [string, string] | undefined, limit: number): Promise<string[]> {
  const place = after ? Prisma.sql`AND (closed_at, id) < (${after[0]}::timestamptz, ${after[1]}::uuid)` : Prisma.empty;
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT id::text FROM statements WHERE left(period_id, 7) = ${month} ${place} ORDER BY closed_at DESC, id DESC LIMIT ${limit}`;
  return rows.map(({ id }) => id);
}
