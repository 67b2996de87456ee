import { Inject, Injectable, Logger } from '@nestjs/common';
import type { ClassCatalogue, CatalogueClass, FailMode } from '@quotaplane/contracts';
import { compile, PolicyPublisher, type DocumentPublished } from '@quotaplane/policy';
import { periodsAround } from '@quotaplane/usage';
import type { Redis } from 'ioredis';
import { Clock } from '../config/clock';
import { PrismaService, type Tx } from '../database/prisma.service';
import { REDIS } from '../database/redis';
import type { EndpointClassRow } from '../database/rows';
import { readListEntries } from './list-rows';
import { nextDocumentRevision } from './outbox-sql';
import { readTierRow } from './policy-rows';
import { policySourceOf } from './policy-source';

/** Publishes the platform-wide documents: the catalogue of endpoint classes, the policy of unknown tenants, and the lists. */
@Injectable()
export class CataloguePublisher {
  private readonly logger = new Logger(CataloguePublisher.name);
  private readonly publisher: PolicyPublisher;

  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(REDIS) redis: Redis,
    @Inject(Clock) private readonly clock: Clock,
  ) {
    this.publisher = new PolicyPublisher({ redis });
  }

  /** @returns feed id */
  publishClasses(changeId = ''): Promise<string> {
    return this.prisma.transaction(async (tx) => {
      const revision = await nextDocumentRevision(tx);
      const rows = await tx.endpointClass.findMany({ orderBy: { slug: 'asc' } });
      return above(revision, (next) => this.publisher.publishClasses(catalogueFrom(rows, next), changeId));
    });
  }

  /** @returns feed id; null where no fallback tier is set or it was never published */
  publishFallback(changeId = ''): Promise<string | null> {
    return this.prisma.transaction(async (tx) => {
      const revision = await nextDocumentRevision(tx);
      const source = await this.fallbackSource(tx);
      if (!source) {
        this.logger.warn('There is no published fallback tier: callers of unknown tenants are judged by the guards\' own defaults.');
        return null;
      }
      return above(revision, (next) => this.publisher.publishFallback(compile({ ...source, revision: next }), changeId));
    });
  }

  /** Entries that run or are to come; ended ones are left out when something else changes, for guards know the clock too. @returns feed id */
  publishLists(changeId = ''): Promise<string> {
    return this.prisma.transaction(async (tx) => {
      const revision = await nextDocumentRevision(tx);
      const entries = await readListEntries(tx, new Date(this.clock.now()));
      return above(revision, (next) => this.publisher.publishLists({ v: 1, revision: next, entries }, changeId));
    });
  }

  /** Slug of the tier that unknown tenants fall to, so that its changes republish the fallback too. */
  async fallbackTier(): Promise<string | undefined> {
    return (await this.prisma.settings.findUnique({ where: { id: 1 } }))?.fallbackTier;
  }

  private async fallbackSource(tx: Tx) {
    const settings = await tx.settings.findUnique({ where: { id: 1 } });
    const tier = settings && (await readTierRow(tx, settings.fallbackTier));
    if (!tier) return undefined;
    const nowMs = this.clock.now();
    const since = new Date(0);
    return policySourceOf(
      { tenant: 'anonymous', status: 'active', revision: 1, assignments: [{ effectiveAt: since, createdAt: since, usage: 'carry', tier }], overrides: [] },
      periodsAround({ timezone: 'UTC', anchorDay: 1, nowMs, before: 1, after: 13 }),
    );
  }
}

/** The document of endpoint classes as guards read it. */
export const catalogueFrom = (rows: readonly EndpointClassRow[], revision: number): ClassCatalogue =>
  ({ v: 1, revision, classes: Object.fromEntries(rows.map((row) => [row.slug, catalogueClassOf(row)])) });

/** Publishes at `revision`, or above what Redis holds where Postgres was restored from a backup. */
async function above(revision: number, publish: (revision: number) => Promise<DocumentPublished>): Promise<string> {
  const first = await publish(revision);
  return first.isRedisAhead ? (await publish(first.revision + 1)).position : first.position;
}

function catalogueClassOf(row: EndpointClassRow): CatalogueClass {
  // Written only after the contract's schema accepted them.
  const retry = row.retry as CatalogueClass['retry'] | null;
  return {
    cost: Number(row.cost),
    meter: row.meter,
    failMode: row.failMode as FailMode,
    refundOn: row.refundOn as CatalogueClass['refundOn'],
    ...(retry ? { retry } : {}),
  };
}
