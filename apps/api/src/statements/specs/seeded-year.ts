import type { PrismaService } from '../../database/prisma.service';

/** Incarnations whose journals a month is made of, two classes each. */
const NODES = 2;

/**
 * For specs: a year of the usage of many tenants in a few statements. Twelve periods of each, of which all but the last are closed; journals of two nodes in
 * two classes. Every tenth tenant used nothing in the last one.
 * @param months ids of the periods, oldest first
 * @returns slugs as the SQL makes them: `m-00001` on
 */
export async function seedYear(prisma: PrismaService, tenants: number, tierId: string, months: readonly string[]): Promise<void> {
  const first = `${months[0] ?? ''}T00:00:00Z`;
  await prisma.$executeRaw`
    INSERT INTO tenants (id, slug, name, created_at, updated_at)
    SELECT gen_random_uuid(), 'm-' || lpad(n::text, 5, '0'), 'm', ${first}::timestamptz, now() FROM generate_series(1, ${tenants}::int) n`;
  await prisma.$executeRaw`
    INSERT INTO tier_assignments (id, tenant_id, tier_id, effective_at, created_at, created_by)
    SELECT gen_random_uuid(), id, ${tierId}::uuid, ${first}::timestamptz, ${first}::timestamptz, 'spec' FROM tenants WHERE slug LIKE 'm-%'`;
  await prisma.$executeRaw`
    INSERT INTO usage_periods (tenant, period_id, start_at, end_at, timezone, closed_at)
    SELECT t.slug, m.id, m.id::timestamp AT TIME ZONE 'UTC', (m.id::date + interval '1 month') AT TIME ZONE 'UTC', 'UTC',
      CASE WHEN m.id <> ${months.at(-1) ?? ''} THEN (m.id::date + interval '32 days') AT TIME ZONE 'UTC' END
    FROM tenants t CROSS JOIN unnest(${[...months]}::text[]) AS m(id) WHERE t.slug LIKE 'm-%'`;
  for (const month of months) {
    await prisma.$queryRaw`SELECT create_usage_partitions(${month}::date, 1)`;
    await prisma.transaction(async (tx) => {
      // Notes are of what comes late; this is what was there.
      await tx.$executeRaw`SET LOCAL session_replication_role = replica`;
      await tx.$executeRaw`
        INSERT INTO usage_journals (incarnation, tenant, meter, period_id, part, class, generation, admitted, refunded)
        SELECT 'node-' || node, t.slug, 'requests', ${month}, 1, class, 1, 1000 + (hashtext(t.slug || ${month}) & 1023), 3
        FROM tenants t CROSS JOIN generate_series(1, ${NODES}::int) node CROSS JOIN unnest(ARRAY['default', 'search']) AS class
        WHERE t.slug LIKE 'm-%' AND (${month} <> ${months.at(-1) ?? ''} OR t.slug NOT LIKE '%0')`;
    }, { timeoutMs: 120_000 });
  }
  await prisma.$executeRaw`ANALYZE`;
}
