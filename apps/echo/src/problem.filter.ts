import { STATUS_CODES } from 'node:http';
import { Catch, HttpException, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { PROBLEM_JSON, QuotaProblemException } from '@quotaplane/guard';

/** An answer that says what is wrong with the request, with a pointer to each fault (RFC 9457). */
export class InvalidRequestException extends HttpException {
  constructor(readonly errors: readonly { readonly pointer: string; readonly detail: string }[]) {
    super('Invalid request', 422);
  }
}

const CODES: Readonly<Record<number, string>> = {
  400: 'malformed', 401: 'unauthenticated', 404: 'not_found', 408: 'malformed', 413: 'body_too_large',
  415: 'unsupported_media_type', 422: 'invalid', 431: 'malformed',
};

interface Reply {
  status(code: number): Reply;
  header(name: string, value: string): Reply;
  send(body: unknown): unknown;
}

/** Every error leaves as problem+json; the guard's own problems pass as they are. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly logger = new Logger('Echo');

  catch(error: unknown, host: ArgumentsHost): void {
    const status = statusOf(error);
    if (status >= 500 && !(error instanceof HttpException)) this.logger.error(error);
    const reply = host.switchToHttp().getResponse<Reply>();
    reply.status(status).header('content-type', PROBLEM_JSON).send(bodyOf(error, status));
  }
}

/** Fastify's own errors, such as a body over the cap, carry `statusCode`. */
export function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  const status = typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : 500;
  return typeof status === 'number' && status >= 400 && status < 600 ? status : 500;
}

export function bodyOf(error: unknown, status: number): object {
  if (error instanceof QuotaProblemException) return error.problem;
  const title = STATUS_CODES[status] ?? 'Error';
  const detail = error instanceof HttpException ? error.message : title;
  const errors = error instanceof InvalidRequestException ? { errors: error.errors } : {};
  return { type: 'about:blank', title, status, detail, code: CODES[status] ?? 'internal', ...errors };
}
