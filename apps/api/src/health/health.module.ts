import { Global, Inject, Module, type OnModuleInit } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { PrismaService } from '../database/prisma.service';
import { REDIS } from '../database/redis';
import { HealthController } from './health.controller';
import { Readiness } from './readiness';

@Global()
@Module({ controllers: [HealthController], providers: [Readiness], exports: [Readiness] })
export class HealthModule implements OnModuleInit {
  constructor(
    @Inject(Readiness) private readonly readiness: Readiness,
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(REDIS) private readonly redis: Redis,
  ) {}

  onModuleInit(): void {
    this.readiness.add('postgres', async () => {
      await this.prisma.settings.count();
    });
    this.readiness.add('redis', async () => {
      await this.redis.ping();
    });
  }
}
