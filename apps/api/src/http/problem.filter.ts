import { Catch, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { ERROR_CODES } from '@quotaplane/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { problemOf, refusalOf, retryAfterOf } from './problem';

/** Turns whatever is thrown into problem+json. The cause goes to the log, never to the caller. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly logger = new Logger('Http');

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    sendProblem(http.getResponse<FastifyReply>(), error, request.id, this.logger);
  }
}

/** Answers with the problem that `error` means; cuts an answer that is under way already. */
export function sendProblem(reply: FastifyReply, error: unknown, requestId: string, logger: Logger): void {
  const refusal = refusalOf(error);
  const { status } = ERROR_CODES[refusal.code];
  if (status >= 500) {
    const cause = refusal.cause ?? refusal;
    logger.error(`${requestId} ${refusal.code}: ${cause instanceof Error ? (refusal.code === 'internal' ? cause.stack : cause.message) : String(cause)}`);
  }
  if (reply.sent || reply.raw.headersSent) {
    reply.raw.destroy();
    return;
  }
  const retryAfter = retryAfterOf(refusal);
  if (retryAfter !== undefined) void reply.header('Retry-After', String(retryAfter));
  if (status === 401) void reply.header('WWW-Authenticate', 'Bearer');
  void reply
    .code(status)
    .header('Cache-Control', 'no-store')
    .header('Content-Type', 'application/problem+json')
    .send(JSON.stringify(problemOf(refusal, requestId)));
}
