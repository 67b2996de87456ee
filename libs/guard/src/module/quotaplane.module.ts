import { Module, type DynamicModule, type FactoryProvider, type Provider } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { QuotaProblemFilter } from '../http/quota-problem.filter';
import { Limiter } from '../limiter/limiter';
import { QuotaMetrics } from '../metrics';
import { QUOTAPLANE_OPTIONS, type QuotaplaneAsyncOptions, type QuotaplaneOptions } from '../options';
import { QuotaGuard } from '../quota.guard';
import { resolveOptions } from '../resolve-options';
import { GuardRuntime } from './guard-runtime';

/**
 * Brings the guard into a service. Global: import it once, then use `QuotaGuard` and the decorators anywhere.
 * @example QuotaplaneModule.forRoot({ redisUrl: process.env.REDIS_URL, service: 'orders' })
 */
@Module({})
export class QuotaplaneModule {
  /** @throws {QuotaplaneOptionsError} naming every faulty option */
  static forRoot(options: QuotaplaneOptions): DynamicModule {
    return moduleOf({ provide: QUOTAPLANE_OPTIONS, useValue: resolveOptions(options) });
  }

  /** Options from a factory, such as a config service's. Faulty ones stop the start with {@link QuotaplaneOptionsError}. */
  static forRootAsync({ imports, inject, useFactory }: QuotaplaneAsyncOptions): DynamicModule {
    const provider: FactoryProvider = {
      provide: QUOTAPLANE_OPTIONS,
      inject: inject ?? [],
      useFactory: async (...dependencies: Parameters<typeof useFactory>) => resolveOptions(await useFactory(...dependencies)),
    };
    return moduleOf(provider, imports);
  }
}

function moduleOf(options: Provider, imports: DynamicModule['imports'] = []): DynamicModule {
  const metrics: FactoryProvider<QuotaMetrics> = { provide: QuotaMetrics, inject: [GuardRuntime], useFactory: (runtime: GuardRuntime) => runtime.node.metrics };
  const limiter: FactoryProvider<Limiter> = { provide: Limiter, inject: [GuardRuntime], useFactory: ({ node, gate }: GuardRuntime) => new Limiter(node, gate) };
  return {
    module: QuotaplaneModule,
    global: true,
    imports,
    providers: [options, GuardRuntime, QuotaGuard, metrics, limiter, { provide: APP_FILTER, useClass: QuotaProblemFilter }],
    // The options and the runtime too: a guard named in @UseGuards is made anew in the module of its controller.
    exports: [QUOTAPLANE_OPTIONS, GuardRuntime, QuotaGuard, metrics, limiter],
  };
}
