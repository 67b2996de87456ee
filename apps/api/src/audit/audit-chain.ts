import { createHash, randomUUID } from 'node:crypto';
import type { PrismaService, Tx } from '../database/prisma.service';
import { lockAuditHeads, moveAuditHead, type AuditLink, type ChainHead } from '../database/audit-sql';
import { canonicalJson } from '../http/canonical-json';

/** Chain of everything that belongs to no single tenant. A tenant's chain is its slug. */
export const PLATFORM_CHAIN = 'platform';

/** An entry without its place in a chain. */
export type EntryContent = Omit<AuditLink, 'id' | 'prevHash' | 'hash' | 'chain' | 'seq'>;

/** A chain is named for the first time; its head must be committed before anyone can queue on it. */
export class MissingHeadError extends Error {
  override readonly name = 'MissingHeadError';
}

/**
 * Locks the heads of `chains`, which must be sorted: every change takes them in the same order and before any other lock, so that
 * changes queue and never deadlock.
 * @throws {MissingHeadError}
 */
export async function lockHeads(tx: Tx, chains: readonly string[]): Promise<ChainHead[]> {
  const heads = await lockAuditHeads(tx, chains);
  if (heads.length < chains.length) throw new MissingHeadError();
  return heads;
}

/** Creates heads outside the change, so that two first changes of a chain meet on one committed row. */
export async function createHeads(prisma: PrismaService, chains: readonly string[]): Promise<void> {
  await prisma.auditHead.createMany({ data: chains.map((chain) => ({ chain })), skipDuplicates: true });
}

/** Of `chains` those that may have a head: the platform's and those of tenants, deleted ones too. Else any name in a body would leave a row. */
export async function ownedChains(prisma: PrismaService, chains: readonly string[]): Promise<string[]> {
  const tenants = await prisma.tenant.findMany({ where: { slug: { in: [...chains] } }, select: { slug: true } });
  const slugs = new Set([PLATFORM_CHAIN, ...tenants.map(({ slug }) => slug)]);
  return chains.filter((chain) => slugs.has(chain));
}

/** Appends the entry to each locked chain and moves its head. */
export async function appendEntries(tx: Tx, heads: readonly ChainHead[], content: EntryContent): Promise<void> {
  for (const head of heads) {
    const link = { id: randomUUID(), chain: head.chain, seq: head.seq + 1n, prevHash: head.hash };
    const hash = entryHash({ ...content, ...link });
    await moveAuditHead(tx, { ...content, ...link, hash });
  }
}

/** An entry with its place; `before` and `after` as written or as any JSON that was read back. */
export type HashedEntry = Omit<EntryContent, 'before' | 'after'> & { id: string; chain: string; seq: bigint; prevHash: string; before: unknown; after: unknown };

/** SHA-256, hex, over the canonical form of the whole entry and the hash before it. Times count to the millisecond, as they are stored. */
export function entryHash(entry: HashedEntry): string {
  const canonical = canonicalJson({
    id: entry.id,
    chain: entry.chain,
    seq: entry.seq.toString(),
    at: entry.at.toISOString(),
    actor: entry.actor,
    action: entry.action,
    entity: entry.entity,
    tenant: entry.tenant,
    reason: entry.reason,
    ticket: entry.ticket,
    before: entry.before,
    after: entry.after,
    changeId: entry.changeId,
    requestId: entry.requestId,
    prevHash: entry.prevHash,
  });
  return createHash('sha256').update(canonical).digest('hex');
}
