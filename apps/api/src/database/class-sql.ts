import type { Tx } from './prisma.service';

/** Live tiers whose draft, version in force or a later version has a limit on the class. */
export async function countTiersNamingClass(tx: Tx, slug: string, now: Date): Promise<number> {
  const named = JSON.stringify({ limits: [{ endpointClass: slug }] });
  const [row] = await tx.$queryRaw<{ tiers: bigint }[]>`
    SELECT count(*) AS tiers FROM tiers t
    WHERE t.archived_at IS NULL AND (t.draft @> ${named}::jsonb OR EXISTS (
      SELECT 1 FROM tier_versions v WHERE v.tier_id = t.id AND v.content @> ${named}::jsonb
        AND NOT EXISTS (SELECT 1 FROM tier_versions later WHERE later.tier_id = t.id AND later.effective_at <= ${now}
          AND (later.effective_at, later.number) > (v.effective_at, v.number))))`;
  return Number(row?.tiers ?? 0n);
}
