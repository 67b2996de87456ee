import { Global, Inject, Module, type OnModuleDestroy } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { AppConfig } from '../config/app-config';
import { PrismaService } from './prisma.service';
import { connectRedis, REDIS } from './redis';

/** The stores: Postgres is the truth, Redis the hot copy. */
@Global()
@Module({
  providers: [
    PrismaService,
    { provide: REDIS, inject: [AppConfig], useFactory: (config: AppConfig) => connectRedis(config.redisUrl) },
  ],
  exports: [PrismaService, REDIS],
})
export class DatabaseModule implements OnModuleDestroy {
  constructor(@Inject(REDIS) private readonly redis: Redis) {}

  onModuleDestroy(): void {
    this.redis.disconnect();
  }
}
