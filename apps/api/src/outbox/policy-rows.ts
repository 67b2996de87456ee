import { overrideSet, type OverrideMode, type OverrideSet, type TenantStatus, type TierContent } from '@quotaplane/contracts';
import type { UsageTransfer } from '@quotaplane/policy';
import type { Calendar } from '@quotaplane/usage';
import { selectSubjectOverrides } from '../database/override-sql';
import type { PrismaService, Tx } from '../database/prisma.service';
import type { CarryRow, DrawRow, GrantRow, QuotaRows } from '../quotas/quota-rows';
import { calendarsOf } from '../tenants/tenant-calendar';
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

interface StoredTier {
  readonly slug: string;
  readonly weight: number;
  readonly versions: readonly { readonly number: number; readonly content: unknown; readonly effectiveAt: Date; readonly publishedAt: Date }[];
}

const tierRowOf = (tier: StoredTier): TierRow => ({
  slug: tier.slug,
  weight: tier.weight,
  versions: tier.versions.map((version) => ({ ...version, content: storedTierContent(version.content) })),
});

const WITH_TIERS = { assignments: { include: { tier: { include: { versions: true } } } } } as const;

/**
 * Reads what the policies of some tenants are made of, without the overrides of single subjects, in a handful of queries however many tenants there are.
 * Call it under the tenants' row locks to publish (each statement sees what was committed before it), without to show.
 * @param overrides `pending` leaves out reverted and ended ones, `all` keeps them with their end, for looking back
 * @returns sorted by slug; unknown slugs are left out
 */
export async function readPolicyRows(
  db: PrismaService | Tx,
  slugs: readonly string[],
  { overrides, now }: { readonly overrides: 'pending' | 'all'; readonly now: Date },
): Promise<TenantPolicyRows[]> {
  const pending = { revertedAt: null, OR: [{ until: null }, { until: { gt: now } }] };
  const tenants = await db.tenant.findMany({
    where: { slug: { in: [...slugs] } },
    include: {
      ...WITH_TIERS, overrides: { where: { subjectField: '', ...(overrides === 'all' ? {} : pending) } }, calendars: true, topUps: { include: { draws: true } },
    },
    orderBy: { slug: 'asc' },
  });
  const carries = await readCarries(db, tenants.map(({ slug }) => slug));
  return tenants.map((row) => ({
    id: row.id,
    tenant: row.slug,
    status: row.status as TenantStatus,
    revision: row.revision,
    timezone: row.timezone,
    anchorDay: row.anchorDay,
    calendars: calendarsOf(row),
    quotas: { calendars: calendarsOf(row), grants: row.topUps.map(grantOf), carries: carries.get(row.slug) ?? [] },
    createdAt: row.createdAt,
    deletedAt: row.deletedAt,
    assignments: row.assignments.map(({ effectiveAt, createdAt, usage, tier }) => ({ effectiveAt, createdAt, usage: usage as UsageTransfer, tier: tierRowOf(tier) })),
    overrides: row.overrides.map((override) => ({
      ...override,
      mode: override.mode as OverrideMode,
      set: storedOverrideSet(override.set),
      until: override.revertedAt ?? override.until,
    })),
  }));
}

type StoredGrant = Omit<GrantRow, 'units' | 'draws'> & { readonly units: bigint; readonly draws: readonly (Omit<DrawRow, 'units'> & { readonly units: bigint })[] };

/** Saved only up to 2^53-1. */
const grantOf = (row: StoredGrant): GrantRow => ({
  ...row, units: Number(row.units), draws: row.draws.map((draw) => ({ ...draw, units: Number(draw.units) })),
});

async function readCarries(db: PrismaService | Tx, slugs: readonly string[]): Promise<ReadonlyMap<string, CarryRow[]>> {
  const byTenant = new Map<string, CarryRow[]>();
  for (const { tenant, units, ...row } of await db.usageCarry.findMany({ where: { tenant: { in: [...slugs] } } })) {
    const carry = { ...row, units: Number(units) };
    const known = byTenant.get(tenant);
    if (known) known.push(carry);
    else byTenant.set(tenant, [carry]);
  }
  return byTenant;
}

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
