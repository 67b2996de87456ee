import 'reflect-metadata';
import { Controller, Get, Injectable, Module, Post, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Cost, EndpointClass, QuotaGuard, QuotaplaneModule, type GuardedRequest, type QuotaplaneOptions } from '@quotaplane/guard';

@Injectable()
class Settings {
  readonly redisUrl = process.env['REDIS_URL'] ?? '';
}

@Module({ providers: [Settings], exports: [Settings] })
class SettingsModule {}

/** What the caller sent is looked at before any validation: without a list it is one unit. */
const itemCount = ({ body }: GuardedRequest): number => {
  const { items } = (body ?? {}) as { items?: unknown };
  return Array.isArray(items) ? Math.max(1, items.length) : 1;
};

@Controller('orders')
@UseGuards(QuotaGuard)
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
  imports: [
    QuotaplaneModule.forRootAsync({
      imports: [SettingsModule],
      inject: [Settings],
      useFactory: (settings: Settings): QuotaplaneOptions => ({ redisUrl: settings.redisUrl, service: 'consumer-cjs', storeBudgetMs: 1000 }),
    }),
  ],
  controllers: [OrdersController],
})
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
  app.enableShutdownHooks();
  await app.listen(Number(process.env['PORT'] ?? 0), '127.0.0.1');
  console.log(`listening ${await app.getUrl()}`);
}
void main();
