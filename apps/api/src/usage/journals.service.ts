import { Inject, Injectable } from '@nestjs/common';
import type { FieldError, JournalDocument, RouteInput, RouteOutput, routes } from '@quotaplane/contracts';
import { batchOfDocument } from '@quotaplane/usage';
import { ChangesService, PLATFORM_CHAIN } from '../audit/changes.service';
import type { Tx } from '../database/prisma.service';
import type { Caller } from '../http/caller';
import { touchUsage } from '../ledger/touch-usage';
import { foldBatches } from './fold-batches';

/** Takes the journals of nodes that could not reach Redis: into the ledger by the one fold, so that a journal posted twice, or flushed too, counts once. */
@Injectable()
export class JournalsService {
  constructor(@Inject(ChangesService) private readonly changes: ChangesService) {}

  post(caller: Caller, { body }: RouteInput<typeof routes.journalsPost>): Promise<RouteOutput<typeof routes.journalsPost>> {
    const { incarnation, service, sequence, counts } = body;
    return this.changes.commit(caller, [PLATFORM_CHAIN], async (tx) => {
      const refused = await refusedCells(tx, counts);
      const known = counts.filter((_, index) => !refused.has(index));
      const batch = batchOfDocument({ ...body, counts: known });
      await foldBatches(tx, [batch]);
      // No fold follows this: the worker has to be told of bases and thresholds.
      await touchUsage(tx, batch.rows);
      const answer = { accepted: known.length, refused: [...refused.values()] };
      return {
        answer, action: 'journal.post', entity: { type: 'journal', id: incarnation }, topics: [], before: null,
        after: { service, sequence, accepted: known.length, refused: refused.size },
      };
    });
  }
}

/** Cells of tenants that there are not, by their place. Deleted tenants are known: what they used is billed. */
async function refusedCells(tx: Tx, counts: JournalDocument['counts']): Promise<Map<number, FieldError>> {
  const slugs = [...new Set(counts.map(({ tenant }) => tenant))];
  const known = new Set((await tx.tenant.findMany({ where: { slug: { in: slugs } }, select: { slug: true } })).map(({ slug }) => slug));
  return new Map(counts.flatMap(({ tenant }, index): [number, FieldError][] =>
    known.has(tenant) ? [] : [[index, { pointer: `/counts/${index}/tenant`, detail: 'is not a tenant' }]]));
}
