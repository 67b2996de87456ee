import 'reflect-metadata';
import { Controller, Get, Module, Post } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Cost, EndpointClass, QuotaGuard, QuotaplaneModule, type GuardedRequest } from '@quotaplane/guard';

/** What the caller sent is looked at before any validation: without a list it is one unit. */
const itemCount = ({ body }: GuardedRequest): number => {
  const { items } = (body ?? {}) as { items?: unknown };
  return Array.isArray(items) ? Math.max(1, items.length) : 1;
};

@Controller('orders')
class OrdersController {
  @Get()
  @EndpointClass('search')
  search(): readonly string[] {
    return [];
  }

  @Post()
  @Cost(itemCount)
  create(): { ok: boolean } {
    return { ok: true };
  }
}

@Module({
  imports: [QuotaplaneModule.forRoot({ redisUrl: process.env['REDIS_URL'] ?? '', service: 'consumer-esm', storeBudgetMs: 1000 })],
  controllers: [OrdersController],
  providers: [{ provide: APP_GUARD, useExisting: QuotaGuard }],
})
class AppModule {}

const app = await NestFactory.create<NestFastifyApplication>(AppModule, new FastifyAdapter(), { logger: ['error', 'warn'] });
app.enableShutdownHooks();
await app.listen(Number(process.env['PORT'] ?? 0), '127.0.0.1');
console.log(`listening ${await app.getUrl()}`);
