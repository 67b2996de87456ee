import { Inject, Module, type OnModuleInit } from '@nestjs/common';
import { redisKeys, RESERVED_TENANTS } from '@quotaplane/contracts';
import { hashSecret } from '@quotaplane/guard';
import type { Redis } from 'ioredis';
import { PrismaService } from '../database/prisma.service';
import { REDIS } from '../database/redis';
import { Readiness } from '../health/readiness';
import { DEMO_KEYS, DEMO_TENANTS } from './demo-tenants';

/** Some of the demo, or of the platform's own tenants, has not reached Redis yet. */
class NotPublishedYetError extends Error {
  override readonly name = 'NotPublishedYetError';
}

/** Holds `ready` back until whoever follows the quick start finds the demo enforced. Without demo data only the platform's own tenants count. */
@Module({})
export class DemoReadinessModule implements OnModuleInit {
  constructor(
    @Inject(Readiness) private readonly readiness: Readiness,
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(REDIS) private readonly redis: Redis,
  ) {}

  onModuleInit(): void {
    this.readiness.add('demo heads and key index in Redis', () => this.check());
  }

  private async check(): Promise<void> {
    const slugs = [...RESERVED_TENANTS, ...DEMO_TENANTS.map(({ slug }) => slug)];
    const [tenants, keys] = await Promise.all([
      this.prisma.tenant.findMany({ where: { slug: { in: slugs }, deletedAt: null, assignments: { some: {} } }, select: { slug: true } }),
      this.prisma.apiKey.findMany({ where: { secretHash: { in: DEMO_KEYS.map(({ name }) => hashSecret(name)) }, revokedAt: null, tenant: { deletedAt: null } }, select: { secretHash: true } }),
    ]);
    const wanted = [...tenants.map(({ slug }) => redisKeys.head(slug)), ...keys.map(({ secretHash }) => redisKeys.key(secretHash))];
    const held = await Promise.all(wanted.map((key) => this.redis.exists(key)));
    if (held.includes(0)) throw new NotPublishedYetError(`${held.filter((count) => count === 0).length} of ${wanted.length} are not in Redis yet`);
  }
}
