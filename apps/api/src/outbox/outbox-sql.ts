import type { ChangeTopic } from '../audit/change-topic';
import type { PrismaService, Tx } from '../database/prisma.service';

export interface ClaimedChange {
  readonly id: string;
  readonly topics: readonly ChangeTopic[];
  /** Failed attempts to publish it. */
  readonly attempts: number;
}

/**
 * Claims unpublished changes for the life of the transaction: SKIP LOCKED, so that workers share the queue, and a row lock, so that a
 * killed worker gives its claims back. Those that failed before come last, or they would keep the others waiting.
 */
export function claimChanges(tx: Tx, limit: number): Promise<ClaimedChange[]> {
  return tx.$queryRaw`
    SELECT id, topics, attempts FROM changes WHERE published_at IS NULL
    ORDER BY attempts, claim_order LIMIT ${limit} FOR UPDATE SKIP LOCKED`;
}

export interface RelayedChange {
  readonly id: string;
  /** Last feed id of all that the change made stale. */
  readonly position: string;
  readonly revisions: readonly { readonly tenant: string; readonly revision: number }[];
}

const ROWS_PER_INSERT = 5_000;

/** Writes the change's revisions and marks it done; the caller holds the claim. Repeats of a redelivery change nothing. */
export async function markPublished(tx: Tx, { id, position, revisions }: RelayedChange): Promise<void> {
  for (let from = 0; from < revisions.length; from += ROWS_PER_INSERT) {
    const data = revisions.slice(from, from + ROWS_PER_INSERT).map((row) => ({ changeId: id, ...row }));
    await tx.changeRevision.createMany({ data, skipDuplicates: true });
  }
  await tx.$executeRaw`
    UPDATE changes SET published_at = clock_timestamp(), position = ${position}, tenant_count = ${revisions.length}, last_error = NULL
    WHERE id = ${id}::uuid`;
}

/** Keeps an unpublished change with what went wrong; the next sweep tries it again. */
export async function markFailed(tx: Tx, id: string, error: string): Promise<void> {
  await tx.$executeRaw`UPDATE changes SET attempts = attempts + 1, last_error = ${error.slice(0, 500)} WHERE id = ${id}::uuid`;
}

/** Tenants a tier reaches: those that have it in force or ahead of them. One page in slug order, after `after`. */
export async function tenantsOfTier(db: PrismaService | Tx, tier: string, after: string, limit: number): Promise<string[]> {
  const rows = await db.$queryRaw<{ slug: string }[]>`
    SELECT DISTINCT t.slug COLLATE "C" AS slug FROM tenants t
    JOIN tier_assignments a ON a.tenant_id = t.id JOIN tiers ON tiers.id = a.tier_id
    WHERE tiers.slug = ${tier} AND t.deleted_at IS NULL AND t.slug COLLATE "C" > ${after}
      AND NOT EXISTS (SELECT 1 FROM tier_assignments later
        WHERE later.tenant_id = t.id AND later.effective_at > a.effective_at AND later.effective_at <= clock_timestamp())
    ORDER BY 1 LIMIT ${limit}`;
  return rows.map(({ slug }) => slug);
}

/** All tenants, deleted ones too (their heads are tombstones that can be lost), one page in slug order. */
export async function tenantPage(db: PrismaService | Tx, after: string, limit: number): Promise<string[]> {
  const rows = await db.$queryRaw<{ slug: string }[]>`
    SELECT slug FROM tenants WHERE slug COLLATE "C" > ${after} ORDER BY slug COLLATE "C" LIMIT ${limit}`;
  return rows.map(({ slug }) => slug);
}

export interface LockedTenant {
  readonly slug: string;
  readonly revision: number;
  readonly generation: number;
  readonly deletedAt: Date | null;
  readonly coveredUntil: Date | null;
}

/**
 * Locks tenants in the order of their ids, so that two publishers of overlapping pages queue and never deadlock.
 * FOR NO KEY UPDATE: inserts of rows that refer to a tenant do not wait.
 */
export function lockTenants(tx: Tx, slugs: readonly string[]): Promise<LockedTenant[]> {
  return tx.$queryRaw`
    SELECT slug, revision, generation, deleted_at AS "deletedAt", covered_until AS "coveredUntil" FROM tenants
    WHERE slug = ANY(${[...slugs]}::text[]) ORDER BY id FOR NO KEY UPDATE`;
}

/** Raises revision and generation; never the version, which belongs to the tenant's editors. */
export async function raiseTenants(
  tx: Tx,
  rows: readonly { readonly slug: string; readonly revision: number; readonly generation: number; readonly coveredUntil: Date | null }[],
): Promise<void> {
  if (rows.length === 0) return;
  await tx.$executeRaw`
    UPDATE tenants SET revision = raised.revision, generation = raised.generation, covered_until = to_timestamp(raised.covered_ms / 1000.0)
    FROM unnest(${rows.map(({ slug }) => slug)}::text[], ${rows.map(({ revision }) => revision)}::int[],
      ${rows.map(({ generation }) => generation)}::int[], ${rows.map((row) => String(row.coveredUntil?.getTime() ?? 0))}::text[]::bigint[])
      AS raised(slug, revision, generation, covered_ms)
    WHERE tenants.slug = raised.slug`;
}

export interface StoredKey {
  readonly hash: string;
  readonly id: string;
  readonly tenant: string;
  readonly userId: string | null;
  readonly kind: 'customer' | 'service';
  readonly isLive: boolean;
}

/** Locks keys in the order of their ids: a revocation waits until an older state of its key is written, and then overwrites it. */
export function lockKeys(tx: Tx, hashes: readonly string[]): Promise<StoredKey[]> {
  return tx.$queryRaw`
    SELECT k.secret_hash AS hash, k.id::text AS id, t.slug AS tenant, k.user_id AS "userId", k.kind,
      (k.revoked_at IS NULL AND t.deleted_at IS NULL) AS "isLive"
    FROM api_keys k JOIN tenants t ON t.id = k.tenant_id
    WHERE k.secret_hash = ANY(${[...hashes]}::text[]) ORDER BY k.id FOR NO KEY UPDATE OF k`;
}

/** Whom live keys stand for. */
export async function tenantsOfKeys(db: PrismaService | Tx, hashes: readonly string[]): Promise<string[]> {
  const rows = await db.$queryRaw<{ slug: string }[]>`
    SELECT DISTINCT t.slug FROM api_keys k JOIN tenants t ON t.id = k.tenant_id
    WHERE k.secret_hash = ANY(${[...hashes]}::text[]) AND k.revoked_at IS NULL AND t.deleted_at IS NULL`;
  return rows.map(({ slug }) => slug);
}

/** Hashes of all keys that guards may still ask for, one page: a revocation is kept for 40 days. */
export async function keyPage(db: PrismaService | Tx, after: string, limit: number): Promise<string[]> {
  const rows = await db.$queryRaw<{ hash: string }[]>`
    SELECT secret_hash AS hash FROM api_keys
    WHERE secret_hash COLLATE "C" > ${after} AND (revoked_at IS NULL OR revoked_at > clock_timestamp() - interval '40 days') ORDER BY secret_hash COLLATE "C" LIMIT ${limit}`;
  return rows.map(({ hash }) => hash);
}

const DOCUMENT_LOCK = 72_707_370;

/**
 * Serialises the publishers of platform-wide documents and gives the next revision, which only grows: serials do not commit in order, but
 * under this lock they are taken in the order of the reads.
 */
export async function nextDocumentRevision(tx: Tx): Promise<number> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(${DOCUMENT_LOCK})`;
  const [row] = await tx.$queryRaw<{ next: bigint }[]>`SELECT nextval(pg_get_serial_sequence('changes', 'claim_order')) AS next`;
  return Number(row?.next ?? 1);
}
