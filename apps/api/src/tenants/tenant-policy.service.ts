import { Inject, Injectable } from '@nestjs/common';
import type { RouteOutput, routes } from '@quotaplane/contracts';
import { compile, danglingLimits, segmentAt } from '@quotaplane/policy';
import { Clock } from '../config/clock';
import { PrismaService } from '../database/prisma.service';
import { countSubjects } from '../database/override-sql';
import { notFound } from '../http/caller';
import { readPolicyRows } from '../outbox/policy-rows';
import { policySourceOf } from '../outbox/policy-source';
import { tenantPeriodAt, tenantPeriods } from './tenant-calendar';

const UPCOMING_MAX = 20;

/** What a tenant is judged by now, compiled from the rows as they stand: an edit is visible here before the worker has published it. */
@Injectable()
export class TenantPolicyService {
  constructor(@Inject(PrismaService) private readonly prisma: PrismaService, @Inject(Clock) private readonly clock: Clock) {}

  async get(slug: string): Promise<RouteOutput<typeof routes.tenantPolicyGet>> {
    const nowMs = this.clock.now();
    const [rows] = await readPolicyRows(this.prisma, [slug], { overrides: 'pending', now: new Date(nowMs) });
    if (!rows || rows.deletedAt !== null) throw notFound();
    const source = policySourceOf({ ...rows, revision: Math.max(rows.revision, 1) }, tenantPeriods(rows, { nowMs, before: 1, after: 13 }));
    const policy = compile(source);
    const segment = segmentAt(policy, nowMs);
    if (!segment) throw notFound();
    // A new period alone changes no limit and is no news here.
    const upcoming = policy.segments
      .filter((later, index) => later.fromMs > nowMs && JSON.stringify(later.limits) !== JSON.stringify(policy.segments[index - 1]?.limits))
      .slice(0, UPCOMING_MAX).map(({ fromMs, limits }) => ({ fromMs, limits }));
    const subjects = await countSubjects(this.prisma, rows.id, new Date(nowMs));
    return {
      tenant: slug,
      revision: rows.revision,
      tier: segment.tier,
      tierVersion: segment.tierVersion,
      fromMs: segment.fromMs,
      untilMs: segment.untilMs,
      period: segment.period,
      timezone: tenantPeriodAt(rows, nowMs).timezone,
      limits: segment.limits,
      concurrency: segment.concurrency,
      quotas: segment.quotas,
      upcoming,
      dangling: danglingLimits(source, nowMs).flatMap(({ overrideId, limits }) => limits.map((limit) => ({ overrideId, limit }))),
      subjects,
    };
  }
}
