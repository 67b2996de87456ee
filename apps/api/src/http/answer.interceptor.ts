import { Inject, Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { RouteContract } from '@quotaplane/contracts';
import type { FastifyReply } from 'fastify';
import { map, type Observable } from 'rxjs';
import { AppConfig } from '../config/app-config';
import { ROUTE_CONTRACT } from './endpoint.decorator';

/** An answer is not what its route promises; only ever thrown where answers are asserted. */
export class BrokenContractError extends Error {
  override readonly name = 'BrokenContractError';
}

/** Gives every versioned answer its ETag and, in specs, holds it against the route's schema. */
@Injectable()
export class AnswerInterceptor implements NestInterceptor {
  constructor(
    @Inject(Reflector) private readonly reflector: Reflector,
    @Inject(AppConfig) private readonly config: AppConfig,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const contract = this.reflector.get<RouteContract | undefined>(ROUTE_CONTRACT, context.getHandler());
    if (!contract) return next.handle();
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    return next.handle().pipe(
      map((answer: unknown) => {
        const version = versionOf(answer);
        if (version !== undefined) void reply.header('ETag', `"${version}"`);
        if (this.config.assertsAnswers) assertAnswer(contract, answer);
        return answer;
      }),
    );
  }
}

function versionOf(answer: unknown): number | undefined {
  if (typeof answer !== 'object' || answer === null || !('version' in answer)) return undefined;
  return typeof answer.version === 'number' ? answer.version : undefined;
}

function assertAnswer(contract: RouteContract, answer: unknown): void {
  if (typeof contract.response === 'string') return;
  const parsed = contract.response.safeParse(answer);
  if (!parsed.success) throw new BrokenContractError(`${contract.method} ${contract.path}: ${parsed.error.message}`);
}
