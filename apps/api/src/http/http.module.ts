import { Module } from '@nestjs/common';
import { APP_FILTER, APP_INTERCEPTOR } from '@nestjs/core';
import { Retention } from '../database/retention';
import { AnswerInterceptor } from './answer.interceptor';
import { DocsController } from './docs.controller';
import { IdempotencyKeys } from './idempotency';
import { IdempotencyInterceptor } from './idempotency.interceptor';
import { ProblemFilter } from './problem.filter';

/** What every answer has in common: problem bodies, ETags, idempotent replays; and the document that describes them all. */
@Module({
  controllers: [DocsController],
  providers: [
    IdempotencyKeys,
    Retention,
    { provide: APP_FILTER, useClass: ProblemFilter },
    // First = outermost: a replay gets its ETag too.
    { provide: APP_INTERCEPTOR, useClass: AnswerInterceptor },
    { provide: APP_INTERCEPTOR, useClass: IdempotencyInterceptor },
  ],
})
export class HttpModule {}
