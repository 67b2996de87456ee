import { Inject, Injectable } from '@nestjs/common';
import { DomainError, type RouteInput, type RouteOutput, type routes, type Tier } from '@quotaplane/contracts';
import type { ChangeTopic } from '../audit/change-topic';
import { ChangesService, PLATFORM_CHAIN } from '../audit/changes.service';
import { Clock } from '../config/clock';
import { PrismaService, type Tx } from '../database/prisma.service';
import { countTenantsNowOrLater, lockTierForArchive } from '../database/tier-sql';
import { notFound, type Caller } from '../http/caller';
import { pageOfRows, readCursor, slugCursor } from '../http/page-cursor';
import { versionConflict } from '../http/version-conflict';
import { readTier, readTiers, requireTier } from './tier-reader';

type Create = RouteInput<typeof routes.tiersCreate>['body'];
type Patch = RouteInput<typeof routes.tiersPatch>['body'];
type Changed = RouteOutput<typeof routes.tiersPatch>;

/** Tiers themselves: name, weight, support, life. What they allow is in their draft and versions. */
@Injectable()
export class TiersService {
  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(ChangesService) private readonly changes: ChangesService,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** By slug. */
  async list(_caller: Caller, { limit, cursor }: RouteInput<typeof routes.tiersList>['query']): Promise<RouteOutput<typeof routes.tiersList>> {
    const after = readCursor(cursor, slugCursor);
    const rows = await this.prisma.tier.findMany({ where: after ? { slug: { gt: after[0] } } : {}, orderBy: { slug: 'asc' }, take: limit + 1 });
    return pageOfRows(await readTiers(this.prisma, rows, this.now()), limit, (tier) => [tier.slug], (tier) => tier);
  }

  async get(_caller: Caller, slug: string): Promise<Tier> {
    return readTier(this.prisma, slug, this.now());
  }

  /** @throws {DomainError} conflict for a slug that is taken */
  async create(caller: Caller, fields: Create): Promise<Changed> {
    return this.changes.commit(caller, [PLATFORM_CHAIN], async (tx, { at }) => {
      await tx.tier.create({ data: { ...fields, createdAt: at } });
      const tier = await readTier(tx, fields.slug, at);
      return { answer: tier, action: 'tier.create', entity: entityOf(fields.slug), topics: [], before: null, after: tier };
    });
  }

  /** @throws {DomainError} not_found, version_conflict */
  async patch(caller: Caller, slug: string, ifVersion: number, fields: Patch): Promise<Changed> {
    return this.changes.commit(caller, [PLATFORM_CHAIN], async (tx, { at }) => {
      const before = await readTier(tx, slug, at);
      const { count } = await tx.tier.updateMany({ where: { slug, version: ifVersion }, data: { ...fields, version: { increment: 1 } } });
      if (count === 0) throw versionConflict(ifVersion, before.version);
      const after = await readTier(tx, slug, at);
      return { answer: after, action: 'tier.update', entity: entityOf(slug), topics: await topicsOf(tx, slug), before, after };
    });
  }

  /** @throws {DomainError} in_use with the number of tenants that have the tier now or later, or as the fallback; conflict when it is archived */
  async archive(caller: Caller, slug: string): Promise<Changed> {
    return this.changes.commit(caller, [PLATFORM_CHAIN], async (tx, { at }) => {
      const locked = await lockTierForArchive(tx, slug);
      if (!locked) throw notFound();
      if (locked.archivedAt) throw new DomainError('conflict', `The tier ${slug} is archived already`);
      const before = await readTier(tx, slug, at);
      await requireUnused(tx, locked.id, slug, at);
      await tx.tier.update({ where: { slug }, data: { archivedAt: at, version: { increment: 1 } } });
      const after = await readTier(tx, slug, at);
      return { answer: after, action: 'tier.archive', entity: entityOf(slug), topics: [], before, after };
    });
  }

  private now(): Date {
    return new Date(this.clock.now());
  }
}

const entityOf = (slug: string): { type: string; id: string } => ({ type: 'tier', id: slug });

/** What to compile anew when a tier changes: its tenants and, where it is the fallback, that document too. */
export async function topicsOf(tx: Tx, slug: string): Promise<ChangeTopic[]> {
  const fallback = await tx.settings.count({ where: { fallbackTier: slug } });
  return [{ kind: 'tier', slug }, ...(fallback > 0 ? [{ kind: 'fallback' } as const] : [])];
}

/** @throws {DomainError} conflict for a tier that is archived; @throws {DomainError} not_found */
export async function requireLiveTier(tx: Tx, slug: string): ReturnType<typeof requireTier> {
  const tier = await requireTier(tx, slug);
  if (tier.archivedAt) throw new DomainError('conflict', `The tier ${slug} is archived`);
  return tier;
}

async function requireUnused(tx: Tx, tierId: string, slug: string, now: Date): Promise<void> {
  const tenants = await countTenantsNowOrLater(tx, tierId, now);
  if (tenants > 0) throw new DomainError('in_use', `${tenants} ${tenants === 1 ? 'tenant uses' : 'tenants use'} the tier ${slug}`, { tenants });
  const fallback = await tx.settings.count({ where: { fallbackTier: slug } });
  if (fallback > 0) throw new DomainError('in_use', `The tier ${slug} is the fallback tier`, { tenants });
}
