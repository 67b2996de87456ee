import type { Actor } from '@quotaplane/contracts';
import type { Tx } from './prisma.service';

/** Last link of a chain, locked until the transaction ends. */
export interface ChainHead {
  readonly chain: string;
  readonly seq: bigint;
  readonly hash: string;
}

/**
 * Locks audit heads in the order of their names. FOR NO KEY UPDATE: changes queue behind each other, readers do not.
 * @returns those that exist
 */
export function lockAuditHeads(tx: Tx, chains: readonly string[]): Promise<ChainHead[]> {
  return tx.$queryRaw`SELECT chain, seq, hash FROM audit_heads WHERE chain = ANY(${[...chains]}::text[]) ORDER BY chain COLLATE "C" FOR NO KEY UPDATE`;
}

export interface AuditLink extends ChainHead {
  readonly id: string;
  readonly at: Date;
  readonly actor: Actor;
  readonly action: string;
  readonly entity: { readonly type: string; readonly id: string };
  readonly tenant: string | null;
  readonly reason: string | null;
  readonly ticket: string | null;
  readonly before: object | null;
  readonly after: object | null;
  readonly changeId: string;
  readonly requestId: string | null;
  readonly prevHash: string;
}

/** Appends an entry and moves its chain's head in one statement; the caller holds the head's lock. */
export async function moveAuditHead(tx: Tx, link: AuditLink): Promise<void> {
  const json = (value: object | null): string | null => (value === null ? null : JSON.stringify(value));
  await tx.$executeRaw`
    WITH entry AS (
      INSERT INTO audit_entries (id, chain, seq, at, actor, action, entity_type, entity_id, tenant, reason, ticket, before, after, change_id, request_id, prev_hash, hash)
      VALUES (${link.id}::uuid, ${link.chain}, ${link.seq}, ${link.at}, ${json(link.actor)}::jsonb, ${link.action}, ${link.entity.type}, ${link.entity.id},
        ${link.tenant}, ${link.reason}, ${link.ticket}, ${json(link.before)}::jsonb, ${json(link.after)}::jsonb, ${link.changeId}::uuid, ${link.requestId},
        ${link.prevHash}, ${link.hash})
      RETURNING chain)
    UPDATE audit_heads SET seq = ${link.seq}, hash = ${link.hash} WHERE chain = (SELECT chain FROM entry)`;
}
