import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../config/clock';
import { PrismaService } from '../database/prisma.service';
import { COVER_AHEAD_MS, TenantPublisher } from './tenant-publisher';

const PAGE = 100;

/** Republishes timelines that come near their end, so that no tenant runs past its last segment. */
@Injectable()
export class TimelineSweep {
  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(TenantPublisher) private readonly tenants: TenantPublisher,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** @returns how many tenants were published again */
  async run(): Promise<number> {
    const before = new Date(this.clock.now() + COVER_AHEAD_MS);
    let published = 0;
    for (let after = ''; ;) {
      const page = await this.prisma.tenant.findMany({
        where: { deletedAt: null, revision: { gt: 0 }, coveredUntil: { lt: before }, slug: { gt: after } },
        orderBy: { slug: 'asc' },
        take: PAGE,
        select: { slug: true },
      });
      if (page.length === 0) return published;
      await this.tenants.publish(page.map(({ slug }) => slug));
      published += page.length;
      after = page.at(-1)?.slug ?? after;
    }
  }
}
