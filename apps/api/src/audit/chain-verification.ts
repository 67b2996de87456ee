import { actorSchema, type RouteOutput, type routes } from '@quotaplane/contracts';
import type { PrismaService, Tx } from '../database/prisma.service';
import type { AuditEntryRow } from '../database/rows';
import { entryHash } from './audit-chain';

type Verification = RouteOutput<typeof routes.auditVerify>;
type Fault = Verification['faults'][number];

const PAGE = 2_000;
const LONGEST_MS = 300_000;

interface Link {
  readonly seq: bigint;
  readonly hash: string;
}

/**
 * Walks every chain from its first entry to its head and names the first broken place of each: a changed entry, a missing or repeated
 * number, a wrong predecessor, a cut end. One snapshot, so that changes made meanwhile cannot look like faults; read in pages, so that
 * memory does not grow with the log.
 */
export async function verifyChains(prisma: PrismaService): Promise<Verification> {
  return prisma.transaction(
    async (tx) => {
      const heads = new Map((await tx.auditHead.findMany()).map((head) => [head.chain, head]));
      const withEntries = await tx.auditEntry.findMany({ distinct: ['chain'], select: { chain: true } });
      const faults: Fault[] = [];
      let entries = 0;
      const chains = [...new Set([...withEntries.map(({ chain }) => chain), ...[...heads.values()].filter(({ seq }) => seq > 0n).map(({ chain }) => chain)])];
      for (const chain of chains.sort()) {
        const walk = await walkChain(tx, chain);
        entries += walk.entries;
        const fault = walk.fault ?? headFault(chain, walk.last, heads.get(chain));
        if (fault) faults.push(fault);
      }
      return { verified: faults.length === 0, chains: chains.length, entries, faults };
    },
    { isolationLevel: 'RepeatableRead', timeoutMs: LONGEST_MS },
  );
}

async function walkChain(tx: Tx, chain: string): Promise<{ entries: number; last: Link; fault?: Fault }> {
  let last: Link = { seq: 0n, hash: '' };
  let entries = 0;
  for (;;) {
    // The smallest possible sequence comes first, so that an entry moved before the start is seen as well.
    const page = await tx.auditEntry.findMany({
      where: { chain, ...(entries === 0 ? {} : { seq: { gt: last.seq } }) },
      orderBy: { seq: 'asc' },
      take: PAGE,
    });
    for (const row of page) {
      const detail = linkFault(row, last);
      if (detail !== undefined) return { entries, last, fault: { chain, seq: (last.seq + 1n).toString(), detail } };
      last = { seq: row.seq, hash: row.hash };
      entries += 1;
    }
    if (page.length < PAGE) return { entries, last };
  }
}

function linkFault(row: AuditEntryRow, last: Link): string | undefined {
  if (row.seq !== last.seq + 1n) return `entry ${last.seq + 1n} is missing; the next one is ${row.seq}`;
  if (row.prevHash !== last.hash) return 'the entry does not follow the one before it';
  const actor = actorSchema.safeParse(row.actor);
  if (!actor.success) return 'the entry has been changed';
  const hash = entryHash({
    id: row.id, chain: row.chain, seq: row.seq, prevHash: row.prevHash, at: row.at, actor: actor.data, action: row.action,
    entity: { type: row.entityType, id: row.entityId }, tenant: row.tenant, reason: row.reason, ticket: row.ticket,
    before: row.before, after: row.after, changeId: row.changeId, requestId: row.requestId,
  });
  return hash === row.hash ? undefined : 'the entry has been changed';
}

function headFault(chain: string, last: Link, head: Link | undefined): Fault | undefined {
  if (head === undefined) return { chain, seq: last.seq.toString(), detail: 'the head of the chain is missing' };
  if (head.seq > last.seq) return { chain, seq: (last.seq + 1n).toString(), detail: `the end is cut: the head is at ${head.seq}` };
  if (head.seq !== last.seq || head.hash !== last.hash) return { chain, seq: last.seq.toString(), detail: 'the head does not name the last entry' };
  return undefined;
}
