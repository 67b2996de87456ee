import type { PrismaService, Tx } from '../database/prisma.service';
import { Prisma } from '../database/rows';

type Ms = number;

/** `[tierId, effective, created, usage]` */
export type StoredAssignment = readonly [tierId: string, effectiveMs: Ms, createdMs: Ms, usage: string];
/** `[id, mode, set, from, until, reverted, created, updated]` */
export type StoredOverride = readonly [id: string, mode: string, set: unknown, fromMs: Ms, untilMs: Ms | null, revertedMs: Ms | null, createdMs: Ms, updatedMs: Ms];
/** `[from, timezone, anchorDay]` */
export type StoredCalendar = readonly [fromMs: Ms, timezone: string, anchorDay: number];
/** `[id, meter, units, priority, from, expires, withdrawn, created, [[periodId, part, units, isFinal]...]]` */
export type StoredTopUp = readonly [
  id: string, meter: string, units: number, priority: number, fromMs: Ms, expiresMs: Ms | null, withdrawnMs: Ms | null, createdMs: Ms,
  draws: readonly (readonly [periodId: string, part: number, units: number, isFinal: boolean])[] | null,
];
/** `[periodId, meter, units, isFinal]` */
export type StoredCarry = readonly [periodId: string, meter: string, units: number, isFinal: boolean];

/** A tenant with all that hangs on it, instants in epoch ms; null where it has none. */
export type StoredTenant = readonly [
  id: string, slug: string, status: string, revision: number, timezone: string, anchorDay: number, createdMs: Ms, deletedMs: Ms | null,
  assignments: readonly StoredAssignment[] | null, overrides: readonly StoredOverride[] | null, calendars: readonly StoredCalendar[] | null,
  topUps: readonly StoredTopUp[] | null, carries: readonly StoredCarry[] | null,
];

/** `[id, slug, weight, [[number, content, effective, published]...]]` */
export type StoredTier = readonly [id: string, slug: string, weight: number, versions: readonly (readonly [number: number, content: unknown, effectiveMs: Ms, publishedMs: Ms])[]];

/** `pending` leaves out reverted and ended ones, `all` keeps them with their end, for looking back; `quotas` those of them that name a quota. */
export type WhichOverrides = 'pending' | 'all' | 'quotas';

/**
 * Tenants with all that hangs on them, sorted by slug, in one statement and as one JSON text: row by row and table by table, a thousand of them would hold
 * this process for most of a second. Reads primary keys and indices only, and takes no lock. Units are at most 2^53-1, so that JSON keeps them.
 */
export async function selectTenants(
  db: PrismaService | Tx, slugs: readonly string[], { overrides, now }: { readonly overrides: WhichOverrides; readonly now: Date },
): Promise<StoredTenant[]> {
  const counts = {
    all: Prisma.empty,
    quotas: Prisma.sql`AND (o.set ? 'quotas')`,
    pending: Prisma.sql`AND o.reverted_at IS NULL AND (o.until_at IS NULL OR o.until_at > ${now})`,
  }[overrides];
  const [found] = await db.$queryRaw<{ rows: string | null }[]>`
    SELECT json_agg(json_build_array(
      t.id, t.slug, t.status, t.revision, t.timezone, t.anchor_day, ${ms('t.created_at')}, ${ms('t.deleted_at')},
      (SELECT json_agg(json_build_array(a.tier_id, ${ms('a.effective_at')}, ${ms('a.created_at')}, a.usage) ORDER BY a.effective_at) FROM tier_assignments a WHERE a.tenant_id = t.id),
      (SELECT json_agg(json_build_array(o.id, o.mode, o.set, ${ms('o.from_at')}, ${ms('o.until_at')}, ${ms('o.reverted_at')}, ${ms('o.created_at')}, ${ms('o.updated_at')}) ORDER BY o.created_at, o.id)
        FROM overrides o WHERE o.tenant_id = t.id AND o.subject_field = '' ${counts}),
      (SELECT json_agg(json_build_array(${ms('c.from_at')}, c.timezone, c.anchor_day) ORDER BY c.from_at) FROM tenant_calendars c WHERE c.tenant_id = t.id),
      (SELECT json_agg(json_build_array(u.id, u.meter, u.units, u.priority, ${ms('u.from_at')}, ${ms('u.expires_at')}, ${ms('u.withdrawn_at')}, ${ms('u.created_at')},
          (SELECT json_agg(json_build_array(d.period_id, d.part, d.units, d.is_final) ORDER BY d.period_id, d.part) FROM top_up_draws d WHERE d.top_up_id = u.id)) ORDER BY u.created_at, u.id)
        FROM top_ups u WHERE u.tenant_id = t.id),
      (SELECT json_agg(json_build_array(y.period_id, y.meter, y.units, y.is_final) ORDER BY y.period_id, y.meter) FROM usage_carries y WHERE y.tenant = t.slug)
    ) ORDER BY t.slug)::text AS rows FROM tenants t WHERE t.slug = ANY(${[...slugs]}::text[])`;
  return found?.rows ? (JSON.parse(found.rows) as StoredTenant[]) : [];
}

/** Tiers with all their versions, oldest first. */
export async function selectTiers(db: PrismaService | Tx, ids: readonly string[]): Promise<StoredTier[]> {
  if (ids.length === 0) return [];
  const [found] = await db.$queryRaw<{ rows: string | null }[]>`
    SELECT json_agg(json_build_array(tiers.id, tiers.slug, tiers.weight,
      (SELECT COALESCE(json_agg(json_build_array(v.number, v.content, ${ms('v.effective_at')}, ${ms('v.published_at')}) ORDER BY v.number), '[]') FROM tier_versions v WHERE v.tier_id = tiers.id)
    ))::text AS rows FROM tiers WHERE tiers.id = ANY(${[...ids]}::text[]::uuid[])`;
  return found?.rows ? (JSON.parse(found.rows) as StoredTier[]) : [];
}

const ms = (column: `${string}.${string}_at`): Prisma.Sql => Prisma.raw(`(EXTRACT(epoch FROM ${column}) * 1000)::bigint`);
