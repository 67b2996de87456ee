import type { OverridableScope } from '@quotaplane/contracts';
import type { PrismaService, Tx } from './prisma.service';
import { Prisma } from './rows';

/** Single subjects of a tenant whose overrides count or will, by scope. Reads the index of (tenant, subject) and takes no lock. */
export async function countSubjects(db: PrismaService, tenantId: string, now: Date): Promise<Readonly<Record<OverridableScope, number>>> {
  const [counts] = await db.$queryRaw<Record<OverridableScope, bigint>[]>`
    SELECT count(*) FILTER (WHERE field LIKE 'key:%') AS key, count(*) FILTER (WHERE field LIKE 'user:%') AS user, count(*) FILTER (WHERE field LIKE 'ip:%') AS ip FROM (
      SELECT DISTINCT subject_field AS field FROM overrides
      WHERE tenant_id = ${tenantId}::uuid AND subject_field <> '' AND reverted_at IS NULL AND (until_at IS NULL OR until_at > ${now})
    ) subjects`;
  return { key: Number(counts?.key ?? 0n), user: Number(counts?.user ?? 0n), ip: Number(counts?.ip ?? 0n) };
}

/** `[subject_field, id, mode, set, from, until, created, updated]`, instants in epoch ms. */
export type SubjectOverrideRow = readonly [field: string, id: string, mode: string, set: unknown, from: number, until: number | null, created: number, updated: number];

/**
 * Overrides of single subjects that count or will, oldest first, as one JSON text a tenant: row by row, 100,000 of them would take the client
 * several seconds under the tenant's lock. Takes no lock itself.
 */
export async function selectSubjectOverrides(
  db: PrismaService | Tx,
  tenantIds: readonly string[],
  now: Date,
): Promise<{ readonly tenantId: string; readonly rows: readonly SubjectOverrideRow[] }[]> {
  const found = await db.$queryRaw<{ tenantId: string; rows: string }[]>`
    SELECT tenant_id::text AS "tenantId", json_agg(json_build_array(subject_field, id, mode, set, ${epochMs('from_at')}, ${epochMs('until_at')},
      ${epochMs('created_at')}, ${epochMs('updated_at')}) ORDER BY created_at, id)::text AS rows FROM overrides
    WHERE tenant_id = ANY(${[...tenantIds]}::uuid[]) AND subject_field <> '' AND reverted_at IS NULL AND (until_at IS NULL OR until_at > ${now})
    GROUP BY tenant_id`;
  return found.map(({ tenantId, rows }) => ({ tenantId, rows: JSON.parse(rows) as SubjectOverrideRow[] }));
}

const epochMs = (column: 'from_at' | 'until_at' | 'created_at' | 'updated_at'): Prisma.Sql => Prisma.raw(`(EXTRACT(epoch FROM ${column}) * 1000)::bigint`);
