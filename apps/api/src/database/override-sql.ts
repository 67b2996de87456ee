import type { OverridableScope } from '@quotaplane/contracts';
import type { PrismaService, Tx } from './prisma.service';
import { Prisma } from './rows';

/** Single subjects of a tenant whose overrides count or will, by scope. Reads the index of (tenant, subject) and takes no lock. */
export async function countSubjects(db: PrismaService, tenantId: string, now: Date): Promise<Readonly<Record<OverridableScope, number>>> {
  const rows = await db.$queryRaw<{ scope: OverridableScope; subjects: bigint }[]>`
    SELECT split_part(subject_field, ':', 1) AS scope, count(*) AS subjects FROM (
      SELECT DISTINCT subject_field FROM overrides
      WHERE tenant_id = ${tenantId}::uuid AND subject_field <> '' AND reverted_at IS NULL AND (until_at IS NULL OR until_at > ${now})
    ) subjects
    GROUP BY 1`;
  const counts = new Map(rows.map(({ scope, subjects }) => [scope, Number(subjects)]));
  return { key: counts.get('key') ?? 0, user: counts.get('user') ?? 0, ip: counts.get('ip') ?? 0 };
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
