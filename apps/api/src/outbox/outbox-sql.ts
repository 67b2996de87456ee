import type { ChangeTopic } from '../audit/change-topic';
import type { PrismaService, Tx } from '../database/prisma.service';

export interface ClaimedChange {
  readonly id: string;
  readonly topics: readonly ChangeTopic[];
  /** Failed attempts to publish it. */
  readonly attempts: number;
}

/** Whole tiers take a while: they have a lane of their own, so that no raise of a single tenant queues behind them. */
export type Lane = 'urgent' | 'bulk';

/**
 * Claims unpublished changes of a lane for the life of the transaction: SKIP LOCKED, so that workers share the queue, and a row lock, so that a
 * killed worker gives its claims back. Those that failed before come last, or they would keep the others waiting.
 * FOR NO KEY UPDATE: the pages of a tier write their revisions, which refer to the change, in transactions of their own.
 */
export function claimChanges(tx: Tx, lane: Lane, limit: number): Promise<ClaimedChange[]> {
  return tx.$queryRaw`
    SELECT id, topics, attempts FROM changes WHERE published_at IS NULL AND (topics @> '[{"kind":"tier"}]') = ${lane === 'bulk'}
    ORDER BY attempts, claim_order LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED`;
}

export interface RelayedChange {
  readonly id: string;
  /** Last feed id of all that the change made stale. */
  readonly position: string;
  /** Those that are not written down yet. */
  readonly revisions: readonly TenantRevision[];
}

export interface TenantRevision {
  readonly tenant: string;
  readonly revision: number;
}

/** Writes down which revisions of tenants hold a change. Repeats of a redelivery change nothing. */
export async function recordRevisions(tx: Tx, rows: readonly (TenantRevision & { readonly changeId: string })[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO change_revisions (change_id, tenant, revision)
    SELECT change_id::uuid, tenant, revision FROM unnest(${rows.map(({ changeId }) => changeId)}::text[], ${rows.map(({ tenant }) => tenant)}::text[],
      ${rows.map(({ revision }) => revision)}::int[]) AS held(change_id, tenant, revision)
    ON CONFLICT DO NOTHING`;
}

/** Writes the changes' revisions and marks them done; the caller holds the claims. */
export async function markPublished(tx: Tx, changes: readonly RelayedChange[]): Promise<void> {
  if (changes.length === 0) return;
  await recordRevisions(tx, changes.flatMap(({ id, revisions }) => revisions.map((row) => ({ changeId: id, ...row }))));
  await tx.$executeRaw`
    UPDATE changes SET published_at = clock_timestamp(), position = done.position, last_error = NULL,
      tenant_count = (SELECT count(*) FROM change_revisions held WHERE held.change_id = changes.id)
    FROM unnest(${changes.map(({ id }) => id)}::text[], ${changes.map(({ position }) => position)}::text[]) AS done(id, position)
    WHERE changes.id = done.id::uuid`;
}

/** Keeps an unpublished change with what went wrong; the next sweep tries it again. */
export async function markFailed(tx: Tx, id: string, error: string): Promise<void> {
  await tx.$executeRaw`UPDATE changes SET attempts = attempts + 1, last_error = ${error.slice(0, 500)} WHERE id = ${id}::uuid`;
}

/**
 * Tenants a tier reaches, sorted: those that have it in force or ahead of them. `hasChange` where a revision that holds the change is published and
 * written down, so that whoever takes a publish over from a killed worker goes on where it was.
 */
export function tenantsOfTier(db: PrismaService | Tx, tier: string, changeId: string): Promise<{ slug: string; hasChange: boolean }[]> {
  return db.$queryRaw`
    SELECT reached.slug, held.tenant IS NOT NULL AS "hasChange" FROM (
      SELECT DISTINCT t.slug COLLATE "C" AS slug FROM tenants t
      JOIN tier_assignments a ON a.tenant_id = t.id JOIN tiers ON tiers.id = a.tier_id
      WHERE tiers.slug = ${tier} AND t.deleted_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM tier_assignments later
          WHERE later.tenant_id = t.id AND later.effective_at > a.effective_at AND later.effective_at <= clock_timestamp())
    ) reached LEFT JOIN change_revisions held ON held.change_id = ${changeId}::uuid AND held.tenant = reached.slug
    ORDER BY reached.slug`;
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
