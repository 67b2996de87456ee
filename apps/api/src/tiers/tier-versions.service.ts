import { Inject, Injectable } from '@nestjs/common';
import { DomainError, type RouteInput, type RouteOutput, type routes, type TierContent } from '@quotaplane/contracts';
import { z } from 'zod';
import { ChangesService, PLATFORM_CHAIN } from '../audit/changes.service';
import { PrismaService } from '../database/prisma.service';
import { Prisma, type TierRow } from '../database/rows';
import type { Caller } from '../http/caller';
import { pageOfRows, readCursor } from '../http/page-cursor';
import { versionConflict } from '../http/version-conflict';
import { diffContent } from './content-diff';
import { requireSoundContent } from './tier-content-check';
import { requireTier } from './tier-reader';
import { contentFrom, EMPTY_CONTENT, tierVersionFrom } from './tiers.mapping';
import { requireLiveTier, topicsOf } from './tiers.service';

type Draft = RouteOutput<typeof routes.tierDraftGet>;
type DraftChanged = RouteOutput<typeof routes.tierDraftPut>;
type Versions = RouteOutput<typeof routes.tierVersionsList>;

/** A version's number is a Postgres integer. */
const numberCursor = z.tuple([z.int32().min(1)]);

/** What a tier allows: one editable draft, and published versions that never change. */
@Injectable()
export class TierVersionsService {
  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(ChangesService) private readonly changes: ChangesService,
  ) {}

  async draft(_caller: Caller, slug: string): Promise<Draft> {
    return draftFrom(await requireTier(this.prisma, slug));
  }

  /** @throws {DomainError} not_found, invalid, conflict (archived), version_conflict on the draft's own version */
  async putDraft(caller: Caller, slug: string, ifVersion: number, content: TierContent): Promise<DraftChanged> {
    return this.replaceDraft(caller, slug, ifVersion, content);
  }

  async deleteDraft(caller: Caller, slug: string, ifVersion: number): Promise<DraftChanged> {
    return this.replaceDraft(caller, slug, ifVersion, null);
  }

  /**
   * Makes the draft the next version and empties it.
   * @throws {DomainError} conflict when there is no draft or the tier is archived, invalid when the draft no longer holds
   */
  async publish(caller: Caller, slug: string, { effectiveAt }: RouteInput<typeof routes.tierPublish>['body']): Promise<RouteOutput<typeof routes.tierPublish>> {
    return this.changes.commit(caller, [PLATFORM_CHAIN], async (tx, { at }) => {
      const tier = await requireLiveTier(tx, slug);
      if (tier.draft === null) throw new DomainError('conflict', `The tier ${slug} has no draft to publish`);
      const content = contentFrom(tier.draft);
      await requireSoundContent(tx, slug, content);
      const last = await tx.tierVersion.findFirst({ where: { tierId: tier.id }, orderBy: { number: 'desc' } });
      const before = last ? contentFrom(last.content) : null;
      // A version that is to begin in the past begins now: what was judged stays judged.
      const beginsAt = effectiveAt !== undefined && new Date(effectiveAt) > at ? new Date(effectiveAt) : at;
      const row = await tx.tierVersion.create({
        data: { tierId: tier.id, number: (last?.number ?? 0) + 1, content, diff: diffContent(before, content), effectiveAt: beginsAt, publishedAt: at, publishedBy: caller.name },
      });
      await tx.tier.update({ where: { id: tier.id }, data: { draft: Prisma.DbNull, draftVersion: { increment: 1 } } });
      const version = tierVersionFrom(slug, row);
      return {
        answer: version, action: 'tier.publish', entity: { type: 'tier', id: slug }, topics: await topicsOf(tx, slug),
        before: last ? tierVersionFrom(slug, last) : null, after: version,
      };
    });
  }

  /** Newest first. */
  async list(_caller: Caller, slug: string, { limit, cursor }: RouteInput<typeof routes.tierVersionsList>['query']): Promise<Versions> {
    const after = readCursor(cursor, numberCursor);
    const tier = await requireTier(this.prisma, slug);
    const rows = await this.prisma.tierVersion.findMany({
      where: { tierId: tier.id, ...(after ? { number: { lt: after[0] } } : {}) },
      orderBy: { number: 'desc' },
      take: limit + 1,
    });
    return pageOfRows(rows, limit, (row) => [row.number], (row) => tierVersionFrom(slug, row));
  }

  private replaceDraft(caller: Caller, slug: string, ifVersion: number, content: TierContent | null): Promise<DraftChanged> {
    return this.changes.commit(caller, [PLATFORM_CHAIN], async (tx) => {
      const before = await requireLiveTier(tx, slug);
      if (before.draftVersion !== ifVersion) throw versionConflict(ifVersion, before.draftVersion);
      if (content !== null) await requireSoundContent(tx, slug, content);
      const { count } = await tx.tier.updateMany({
        where: { id: before.id, draftVersion: ifVersion },
        data: { draft: content ?? Prisma.DbNull, draftVersion: { increment: 1 } },
      });
      const after = await requireTier(tx, slug);
      if (count === 0) throw versionConflict(ifVersion, after.draftVersion);
      return {
        answer: draftFrom(after), action: content === null ? 'tier-draft.delete' : 'tier-draft.update', entity: { type: 'tier', id: slug }, topics: [],
        before: draftFrom(before), after: draftFrom(after),
      };
    });
  }
}

function draftFrom({ slug, draft, draftVersion }: TierRow): Draft {
  return { tier: slug, version: draftVersion, content: draft === null ? EMPTY_CONTENT : contentFrom(draft) };
}
