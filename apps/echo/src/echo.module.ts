import { Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { QuotaplaneModule } from '@quotaplane/guard';
import { EchoController } from './echo.controller';
import { OperationsController, Readiness } from './operations.controller';
import { ProblemFilter } from './problem.filter';
import type { EchoSettings } from './settings';

@Module({})
export class EchoModule {
  static of({ redisUrl, storeBudgetMs, platform }: EchoSettings): DynamicModule {
    return {
      module: EchoModule,
      imports: [QuotaplaneModule.forRoot({ redisUrl, service: 'echo', version: '0.1.0', ...(storeBudgetMs ? { storeBudgetMs } : {}), ...(platform ? { platform } : {}) })],
      // Operations first: the other controller ends in a route that takes everything.
      controllers: [OperationsController, EchoController],
      providers: [Readiness, { provide: APP_FILTER, useClass: ProblemFilter }],
    };
  }
}
