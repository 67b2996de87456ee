import type { PrismaService } from '../database/prisma.service';
import { Prisma } from '../database/rows';

const INDEXED_LENGTH = 3;

interface TenantFilters {
  readonly q?: string | undefined;
  readonly tier?: string | undefined;
  readonly status?: string | undefined;
}

/** Whether anything but the order is asked for. `active` alone leaves out next to nobody. */
export const isFiltered = ({ q, tier, status }: TenantFilters): boolean => Boolean(q) || tier !== undefined || status !== undefined;

/** What a tenant `t` has to be: said so that one tenant is looked up, and so that all of them are found. The same tenants match both. */
export interface TenantMatches {
  readonly one: Prisma.Sql;
  readonly all: Prisma.Sql;
}

/** @returns null where nobody can match */
export async function matchesFilters(db: PrismaService, { q, tier, status }: TenantFilters, now: Date): Promise<TenantMatches | null> {
  const conditions: Prisma.Sql[] = [];
  if (status) conditions.push(Prisma.sql`t.status = ${status}`);
  if (q) {
    const pattern = `%${q.replace(/[\\%_]/g, '\\$&')}%`;
    // The index has parts of three letters. Fewer mostly match many, found soon; where they match nobody, all are looked at, for which this is the quicker form.
    conditions.push(q.length < INDEXED_LENGTH
      ? Prisma.sql`(t.slug LIKE lower(${pattern}) OR lower(t.name) LIKE lower(${pattern}))`
      : Prisma.sql`(t.slug ILIKE ${pattern} OR t.name ILIKE ${pattern})`);
  }
  if (tier === undefined) return { one: allOf(conditions), all: allOf(conditions) };
  // Looked up first, so that the planner knows how many tenants it has.
  const row = await db.tier.findUnique({ where: { slug: tier }, select: { id: true } });
  if (!row) return null;
  return {
    one: allOf([...conditions, Prisma.sql`${row.id}::uuid = (SELECT a.tier_id FROM tier_assignments a WHERE a.tenant_id = t.id AND a.effective_at <= ${now}
      ORDER BY a.effective_at DESC LIMIT 1)`]),
    all: allOf([...conditions, Prisma.sql`t.id IN (SELECT a.tenant_id FROM tier_assignments a WHERE a.tier_id = ${row.id}::uuid AND a.effective_at <= ${now}
      AND NOT EXISTS (SELECT 1 FROM tier_assignments later WHERE later.tenant_id = a.tenant_id AND later.effective_at > a.effective_at AND later.effective_at <= ${now}))`]),
  };
}

const allOf = (conditions: Prisma.Sql[]): Prisma.Sql => (conditions.length === 0 ? Prisma.sql`true` : Prisma.join(conditions, ' AND '));
