import { Inject, Injectable } from '@nestjs/common';
import { DomainError, type RouteInput, type RouteOutput, type routes } from '@quotaplane/contracts';
import { readOffenders } from '@quotaplane/usage';
import type { Redis } from 'ioredis';
import { PrismaService } from '../database/prisma.service';
import { REDIS } from '../database/redis';
import type { Caller } from '../http/caller';
import { tiersOf, WITH_ASSIGNMENTS } from '../tenants/tenants.mapping';

/** Past this many subjects a bound token may miss some of its own: as many as 200 nodes count apart in one minute. */
const BOUND_READ_LIMIT = 100_000;

@Injectable()
export class OffendersService {
  constructor(@Inject(PrismaService) private readonly prisma: PrismaService, @Inject(REDIS) private readonly redis: Redis) {}

  /** One page, most denials first. A bound token sees its own tenant, and shares of its own denials. */
  async list(caller: Pick<Caller, 'boundTenant'>, { query }: Pick<RouteInput<typeof routes.offendersList>, 'query'>): Promise<RouteOutput<typeof routes.offendersList>> {
    const { rows, total } = await this.read(caller.boundTenant, query);
    const now = new Date();
    const tenants = await this.prisma.tenant.findMany({ where: { slug: { in: [...new Set(rows.map(({ tenant }) => tenant))] } }, include: WITH_ASSIGNMENTS });
    const tiers = new Map(tenants.map((row) => [row.slug, tiersOf(row, now).inForce?.tier.slug ?? null]));
    const items = rows.map((row) => ({
      tenant: row.tenant,
      tier: tiers.get(row.tenant) ?? null,
      subject: { scope: row.scope, id: row.subject },
      denials: row.denials,
      error: row.error,
      honoursRetryAfter: row.honoursRetryAfter,
      limits: [...row.limits],
      share: total === 0 ? 0 : row.denials / total,
      lastSeen: new Date(row.lastSeenMs).toISOString(),
    }));
    return { items, nextCursor: null };
  }

  private async read(boundTenant: string | null, { minutes, limit }: { readonly minutes: number; readonly limit: number }) {
    try {
      const [seconds] = await this.redis.time();
      const nowMs = Number(seconds) * 1000;
      const { rows, totalDenials } = await readOffenders(this.redis, { minutes, nowMs, limit: boundTenant === null ? limit : BOUND_READ_LIMIT });
      if (boundTenant === null) return { rows, total: totalDenials };
      const own = rows.filter(({ tenant }) => tenant === boundTenant);
      return { rows: own.slice(0, limit), total: own.reduce((sum, { denials }) => sum + denials, 0) };
    } catch (cause) {
      throw new DomainError('store_unavailable', 'Redis does not answer, and denials are counted there', { retryAfter: 1 }, { cause });
    }
  }
}
