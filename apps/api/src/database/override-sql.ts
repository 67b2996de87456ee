import type { OverridableScope } from '@quotaplane/contracts';
import type { PrismaService } from './prisma.service';

/** Single subjects of a tenant whose overrides count or will, by scope. Reads the index of (tenant, subject) and takes no lock. */
export async function countSubjects(db: PrismaService, tenantId: string, now: Date): Promise<Readonly<Record<OverridableScope, number>>> {
  const rows = await db.$queryRaw<{ scope: OverridableScope; subjects: bigint }[]>`
    SELECT split_part(subject_field, ':', 1) AS scope, count(DISTINCT subject_field) AS subjects FROM overrides
    WHERE tenant_id = ${tenantId}::uuid AND subject_field <> '' AND reverted_at IS NULL AND (until_at IS NULL OR until_at > ${now})
    GROUP BY 1`;
  const counts = new Map(rows.map(({ scope, subjects }) => [scope, Number(subjects)]));
  return { key: counts.get('key') ?? 0, user: counts.get('user') ?? 0, ip: counts.get('ip') ?? 0 };
}
