import { overrideSet, type OverrideMode, type OverrideSet, type TenantStatus, type TierContent } from '@quotaplane/contracts';
import type { UsageTransfer } from '@quotaplane/policy';
import type { Calendar } from '@quotaplane/usage';
import { selectSubjectOverrides } from '../database/override-sql';
import type { PrismaService, Tx } from '../database/prisma.service';
import type { CarryRow, DrawRow, GrantRow, QuotaRows } from '../quotas/quota-rows';
import { calendarsOf } from '../tenants/tenant-calendar';
import { selectTenants, selectTiers, type StoredTenant, type StoredTier, type StoredTopUp, type WhichOverrides } from './policy-sql';
import type { OverrideRow, PolicyRows, TierRow } from './policy-source';

/** A tenant with all that its policy is made of. */
export interface TenantPolicyRows extends PolicyRows {
  readonly id: string;
  readonly timezone: string;
  readonly anchorDay: number;
  /** How its periods are cut, since ever: `tenantPeriods`. */
  readonly calendars: readonly Calendar[];
  readonly quotas: QuotaRows;
  readonly createdAt: Date;
  readonly deletedAt: Date | null;
}

/** Written only after `tierContentSchema` accepted it; an older release's content must stay readable when the schema grows stricter. */
export const storedTierContent = (content: unknown): TierContent => content as TierContent;

/** Written only after `overrideSet` accepted it. */
export const storedOverrideSet = (set: unknown): OverrideSet => overrideSet.parse(set);

interface PrismaTier {
  readonly slug: string;
  readonly weight: number;
  readonly versions: readonly { readonly number: number; readonly content: unknown; readonly effectiveAt: Date; readonly publishedAt: Date }[];
}

const tierRowOf = (tier: PrismaTier): TierRow => ({
  slug: tier.slug,
  weight: tier.weight,
  versions: tier.versions.map((version) => ({ ...version, content: storedTierContent(version.content) })),
});

/**
 * Reads what the policies of some tenants are made of, without the overrides of single subjects, in two statements however many tenants there are. Tenants of
 * a tier share its object, and those with the same calendar share that.
 * Call it under the tenants' row locks to publish (each statement sees what was committed before it), without to show.
 * @returns sorted by slug; unknown slugs are left out
 */
export async function readPolicyRows(
  db: PrismaService | Tx,
  slugs: readonly string[],
  which: { readonly overrides: WhichOverrides; readonly now: Date },
): Promise<TenantPolicyRows[]> {
  if (slugs.length === 0) return [];
  const tenants = await selectTenants(db, slugs, which);
  const tierIds = new Set(tenants.flatMap((row) => (row[8] ?? []).map(([tierId]) => tierId)));
  const tiers = new Map((await selectTiers(db, [...tierIds])).map((tier) => [tier[0], tierFrom(tier)]));
  const calendars = new Map<string, readonly Calendar[]>();
  return tenants.sort(([, left], [, right]) => (left < right ? -1 : 1)).map((row) => tenantFrom(row, tiers, calendars));
}

function tenantFrom(
  [id, tenant, status, revision, timezone, anchorDay, createdMs, deletedMs, assignments, overrides, calendarRows, topUps, carries]: StoredTenant,
  tiers: ReadonlyMap<string, TierRow>, known: Map<string, readonly Calendar[]>,
): TenantPolicyRows {
  const key = JSON.stringify([timezone, anchorDay, calendarRows]);
  const calendars = known.get(key) ?? calendarsOf({
    timezone, anchorDay, calendars: (calendarRows ?? []).map(([fromMs, zone, day]) => ({ fromAt: new Date(fromMs), timezone: zone, anchorDay: day })),
  });
  known.set(key, calendars);
  return {
    id, tenant, revision, timezone, anchorDay, calendars,
    status: status as TenantStatus,
    createdAt: new Date(createdMs),
    deletedAt: dateOf(deletedMs),
    assignments: (assignments ?? []).flatMap(([tierId, effectiveMs, assignedMs, usage]) => {
      const tier = tiers.get(tierId);
      return tier ? [{ effectiveAt: new Date(effectiveMs), createdAt: new Date(assignedMs), usage: usage as UsageTransfer, tier }] : [];
    }),
    overrides: (overrides ?? []).map(([overrideId, mode, set, fromMs, untilMs, revertedMs, madeMs, updatedMs]) => ({
      id: overrideId,
      mode: mode as OverrideMode,
      set: storedOverrideSet(set),
      from: new Date(fromMs),
      until: dateOf(revertedMs ?? untilMs),
      createdAt: new Date(madeMs),
      updatedAt: new Date(updatedMs),
    })),
    quotas: {
      calendars,
      grants: (topUps ?? []).map(grantFrom),
      carries: (carries ?? []).map(([periodId, meter, units, isFinal]): CarryRow => ({ periodId, meter, units, isFinal })),
    },
  };
}

const dateOf = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));

const tierFrom = ([, slug, weight, versions]: StoredTier): TierRow => tierRowOf({
  slug, weight,
  versions: versions.map(([number, content, effectiveMs, publishedMs]) => ({ number, content, effectiveAt: new Date(effectiveMs), publishedAt: new Date(publishedMs) })),
});

const grantFrom = ([id, meter, units, priority, fromMs, expiresMs, withdrawnMs, createdMs, draws]: StoredTopUp): GrantRow => ({
  id, meter, units, priority, from: new Date(fromMs), expiresAt: dateOf(expiresMs), withdrawnAt: dateOf(withdrawnMs), createdAt: new Date(createdMs),
  draws: (draws ?? []).map(([periodId, part, drawn, isFinal]): DrawRow => ({ periodId, part, units: drawn, isFinal })),
});

/** One tier as if it were in force for ever: what unknown tenants fall to. Undefined when it is unknown or was never published. */
export async function readTierRow(db: PrismaService | Tx, slug: string): Promise<TierRow | undefined> {
  const tier = await db.tier.findUnique({ where: { slug }, include: { versions: true } });
  return tier && tier.versions.length > 0 ? tierRowOf(tier) : undefined;
}

/**
 * Overrides of single keys, users and addresses that count or will, of some tenants: by tenant id, then by field of `qp:{tenant}:subjects`.
 * A tenant may have 100,000 of them.
 */
export async function readSubjectOverrides(
  db: PrismaService | Tx,
  tenantIds: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, ReadonlyMap<string, readonly OverrideRow[]>>> {
  const byTenant = new Map<string, Map<string, OverrideRow[]>>();
  for (const { tenantId, rows } of await selectSubjectOverrides(db, tenantIds, now)) {
    const subjects = new Map<string, OverrideRow[]>();
    for (const [field, id, mode, set, from, until, created, updated] of rows) {
      const row = {
        // Written only after `overrideSet` accepted it; parsing 100,000 of them again would take a second.
        id, mode: mode as OverrideMode, set: set as OverrideSet, from: new Date(from), until: until === null ? null : new Date(until), createdAt: new Date(created), updatedAt: new Date(updated),
      };
      const known = subjects.get(field);
      if (known) known.push(row);
      else subjects.set(field, [row]);
    }
    byTenant.set(tenantId, subjects);
  }
  return byTenant;
}
