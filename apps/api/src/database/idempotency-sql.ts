import type { PrismaService, Tx } from './prisma.service';

export interface IdempotencySlot {
  readonly actorId: string;
  readonly key: string;
}
export interface StoredAnswer {
  readonly requestHash: string;
  /** Null while the first request is running. */
  readonly status: number | null;
  readonly response: unknown;
}

/**
 * Claims a key that nobody holds: unknown, past its 7 days, or claimed by a request that died 60 s ago without an effect.
 * One statement, so that of any number of parallel sends exactly one gets it.
 * @returns the claim's instant, its fencing token; null when the key is held
 */
export async function claimIdempotencyKey(prisma: PrismaService, slot: IdempotencySlot, requestHash: string): Promise<Date | null> {
  const rows = await prisma.$queryRaw<{ created_at: Date }[]>`
    INSERT INTO idempotency_keys AS held (actor_id, key, request_hash, created_at)
    VALUES (${slot.actorId}, ${slot.key}, ${requestHash}, clock_timestamp())
    ON CONFLICT (actor_id, key) DO UPDATE
      SET request_hash = excluded.request_hash, created_at = excluded.created_at, status = NULL, response = NULL, completed_at = NULL
      WHERE held.created_at < clock_timestamp() - interval '7 days'
         OR (held.status IS NULL AND held.created_at < clock_timestamp() - interval '60 seconds')
    RETURNING created_at`;
  return rows[0]?.created_at ?? null;
}

/**
 * Stores the answer of the claim's request. Locks the row until the transaction ends, so that a take-over waits and then sees it.
 * @returns false when the claim was taken over
 */
export async function completeIdempotencyKey(tx: Tx, claim: IdempotencySlot & { claimedAt: Date; status: number }, response: object): Promise<boolean> {
  const updated = await tx.$executeRaw`
    UPDATE idempotency_keys SET status = ${claim.status}, response = ${JSON.stringify(response)}::jsonb, completed_at = clock_timestamp()
    WHERE actor_id = ${claim.actorId} AND key = ${claim.key} AND created_at = ${claim.claimedAt} AND status IS NULL`;
  return updated === 1;
}

/** Gives back a claim whose request had no effect, so that the next send is tried anew. */
export async function releaseIdempotencyKey(prisma: PrismaService, claim: IdempotencySlot & { claimedAt: Date }): Promise<void> {
  await prisma.idempotencyKey.deleteMany({ where: { actorId: claim.actorId, key: claim.key, createdAt: claim.claimedAt, status: null } });
}
