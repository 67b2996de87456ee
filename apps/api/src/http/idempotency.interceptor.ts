import { Inject, Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { RouteContract } from '@quotaplane/contracts';
import type { FastifyReply } from 'fastify';
import { catchError, from, of, type Observable } from 'rxjs';
import type { ApiRequest } from './api-request';
import { ROUTE_CONTRACT } from './endpoint.decorator';
import { IdempotencyKeys } from './idempotency';
import { requestContext } from './request-context';

/** Runs an `idempotent` route once per Idempotency-Key and repeats its first answer, secrets left out. */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(
    @Inject(Reflector) private readonly reflector: Reflector,
    @Inject(IdempotencyKeys) private readonly keys: IdempotencyKeys,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const contract = this.reflector.get<RouteContract | undefined>(ROUTE_CONTRACT, context.getHandler());
    const request = context.switchToHttp().getRequest<ApiRequest>();
    const header = request.headers['idempotency-key'];
    const store = requestContext.getStore();
    if (!contract?.idempotent || typeof header !== 'string' || !request.caller || !store) return next.handle();

    const outcome = await this.keys.begin(contract, request, header, `${request.caller.kind}:${request.caller.id}`);
    if (outcome.kind === 'replay') {
      const reply = context.switchToHttp().getResponse<FastifyReply>();
      void reply.code(outcome.status).header('Idempotency-Replayed', 'true');
      return of(outcome.response);
    }
    store.idempotency = outcome.claim;
    return next.handle().pipe(
      catchError((error: unknown) =>
        from(
          this.keys.release(outcome.claim).then(
            () => Promise.reject(error),
            // The claim runs out by itself; the caller needs the first error.
            () => Promise.reject(error),
          ),
        ),
      ),
    );
  }
}
