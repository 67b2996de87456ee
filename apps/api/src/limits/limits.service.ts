import { Inject, Injectable } from '@nestjs/common';
import { ALGORITHMS, classCatalogueSchema, redisKeys, type ClassCatalogue, type PublicLimits, type PublicTier, type Segment } from '@quotaplane/contracts';
import { compile, segmentAt, type PolicySource } from '@quotaplane/policy';
import { periodsAround } from '@quotaplane/usage';
import type { Redis } from 'ioredis';
import { Clock } from '../config/clock';
import { PrismaService } from '../database/prisma.service';
import { REDIS } from '../database/redis';
import { catalogueFrom } from '../outbox/catalogue-publisher';
import { readPolicyRows, readTierRow, type TenantPolicyRows } from '../outbox/policy-rows';
import { policySourceOf, type TierRow } from '../outbox/policy-source';
import { tenantPeriods } from '../tenants/tenant-calendar';
import { ALGORITHMS_IN_WORDS, BACK_OFF, DENIALS, FIELDS, PERIOD } from './explanations';
import { publicClassesFrom, publicTierFrom } from './public-tier';

/** How long one answer is given to everybody, ms: the page is public, so callers must not reach the database at will. */
const KEPT_MS = 1000;

/** The document, and how long it stays true by itself, in ms. */
export interface LimitsAnswer {
  readonly limits: PublicLimits;
  readonly validForMs: number;
}

/**
 * What API consumers may rely on. Tiers come out of the same `compile` that the worker publishes with, never out of their rows, so that a draft does
 * not show; classes are the document that guards read.
 *
 * Shown: every tier with a version in force that a consumer can be on, and the one of callers without credentials. Not shown: archived tiers (nobody is on
 * one), tiers without a version in force (they limit nothing) and the tier of the platform's own services.
 */
@Injectable()
export class LimitsService {
  private kept: { readonly answer: Promise<LimitsAnswer>; readonly atMs: number } | undefined;

  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(REDIS) private readonly redis: Redis,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  read(): Promise<LimitsAnswer> {
    const nowMs = this.clock.now();
    // A clock that stepped back must not keep an old answer alive.
    if (this.kept && Math.abs(nowMs - this.kept.atMs) < KEPT_MS) return this.kept.answer;
    const answer = this.compileAll(nowMs);
    const kept = (this.kept = { answer, atMs: nowMs });
    // A failure is told to those who wait for it, then forgotten.
    answer.catch(() => {
      if (this.kept === kept) this.kept = undefined;
    });
    return answer;
  }

  private async compileAll(nowMs: number): Promise<LimitsAnswer> {
    const [rows, reserved, settings, catalogue] = await Promise.all([
      this.prisma.tier.findMany({ where: { archivedAt: null }, orderBy: [{ weight: 'asc' }, { slug: 'asc' }], select: { slug: true, name: true, support: true } }),
      readPolicyRows(this.prisma, ['anonymous', 'platform'], { overrides: 'pending', now: new Date(nowMs) }),
      this.prisma.settings.findUnique({ where: { id: 1 } }),
      this.catalogue(),
    ]);
    const anonymous = this.segmentOfTenant(reserved.find(({ tenant }) => tenant === 'anonymous'), nowMs);
    const platform = this.segmentOfTenant(reserved.find(({ tenant }) => tenant === 'platform'), nowMs);
    const fallback = settings?.fallbackTier;

    const tiers: PublicTier[] = [];
    let untilMs = Number.MAX_SAFE_INTEGER;
    for (const { slug, name, support } of rows) {
      if (slug === platform?.tier && slug !== anonymous?.tier && slug !== fallback) continue;
      // Callers without credentials are judged by their reserved tenant's policy, overrides and all.
      const tier = await readTierRow(this.prisma, slug);
      const segment = slug === anonymous?.tier ? anonymous : this.segmentOfTier(tier, nowMs);
      if (!segment || segment.tierVersion === 0) continue;
      const quotas = tier?.versions.find(({ number }) => number === segment.tierVersion)?.content.quotas ?? [];
      tiers.push(publicTierFrom(segment, { name, support, quotas, audience: slug === anonymous?.tier ? 'anonymous' : 'accounts' }));
      untilMs = Math.min(untilMs, segment.untilMs);
    }
    const used = ALGORITHMS.filter((algorithm) => tiers.some(({ limits }) => limits.some((limit) => limit.algorithm === algorithm)));
    return {
      limits: {
        v: 1, tiers, classes: publicClassesFrom(catalogue), algorithms: used.map((algorithm) => ({ algorithm, ...ALGORITHMS_IN_WORDS[algorithm] })),
        period: [...PERIOD], fields: [...FIELDS], denials: [...DENIALS], backOff: [...BACK_OFF],
      },
      validForMs: untilMs - nowMs,
    };
  }

  private segmentOfTenant(rows: TenantPolicyRows | undefined, nowMs: number): Segment | undefined {
    return rows && segmentNow(policySourceOf({ ...rows, revision: 1 }, tenantPeriods(rows, { nowMs, before: 1, after: 1 })), nowMs);
  }

  private segmentOfTier(tier: TierRow | undefined, nowMs: number): Segment | undefined {
    if (!tier) return undefined;
    const since = new Date(0);
    const assignments = [{ effectiveAt: since, createdAt: since, usage: 'carry' as const, tier }];
    const rows = { tenant: tier.slug, status: 'active' as const, revision: 1, assignments, overrides: [] };
    return segmentNow(policySourceOf(rows, periodsAround({ timezone: 'UTC', anchorDay: 1, nowMs, before: 1, after: 1 })), nowMs);
  }

  /** The document that guards read; while Redis cannot be asked, what the worker would write into it. */
  private async catalogue(): Promise<ClassCatalogue> {
    const published = await this.redis.get(redisKeys.classes).catch(() => null);
    return parseCatalogue(published) ?? catalogueFrom(await this.prisma.endpointClass.findMany({ orderBy: { slug: 'asc' } }), 0);
  }
}

function parseCatalogue(text: string | null): ClassCatalogue | undefined {
  if (text === null) return undefined;
  try {
    return classCatalogueSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

const segmentNow = (source: PolicySource, nowMs: number): Segment | undefined => segmentAt(compile(source), nowMs);
