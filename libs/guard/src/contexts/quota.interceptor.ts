import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { Observable } from 'rxjs';
import { callContextOf } from './call-context';
import { takeHeld } from './held-calls';

/**
 * Tells the guard when a call has ended that has no HTTP response to watch: GraphQL fields, messages, events. `@LimitConcurrency()` brings it along;
 * on HTTP it does nothing.
 */
@Injectable()
export class QuotaInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const token = callContextOf(context.getType<string>())?.tokenOf(context);
    const onEnd = token && takeHeld(token);
    const handled: Observable<unknown> = next.handle();
    if (!onEnd) return handled;
    return new Observable((subscriber) => {
      let statusCode = 0;
      const subscription = handled.subscribe({
        next: (value) => subscriber.next(value),
        error: (error: unknown) => {
          statusCode = statusOf(error);
          subscriber.error(error);
        },
        complete: () => {
          statusCode = 200;
          subscriber.complete();
        },
      });
      // Runs once, after an end of either kind or when the caller has unsubscribed.
      return () => {
        subscription.unsubscribe();
        onEnd({ statusCode: statusCode || 200, isAborted: statusCode === 0 });
      };
    });
  }
}

function statusOf(error: unknown): number {
  const status: unknown = typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;
  return typeof status === 'number' && status >= 400 && status < 600 ? status : 500;
}
