import { DomainError, ERROR_CODES, type ErrorCode, type Problem } from '@quotaplane/contracts';
import { HttpException } from '@nestjs/common';
import { domainErrorOf } from '../database/database-error';

/** How a status of the framework reads in the contract's words. */
const CODE_BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'malformed', 401: 'unauthenticated', 403: 'forbidden', 404: 'not_found', 405: 'not_found',
  413: 'body_too_large', 414: 'malformed', 415: 'unsupported_media_type', 431: 'malformed', 503: 'store_unavailable',
};
const DETAILS: Readonly<Partial<Record<ErrorCode, string>>> = {
  malformed: 'The request cannot be parsed',
  not_found: 'There is no such resource',
  body_too_large: 'The body is larger than this route takes',
  unsupported_media_type: 'The body must be application/json',
};

/** Reads any thrown thing as the refusal it means; what is not known is `internal` and tells the caller nothing. */
export function refusalOf(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  const status = statusOf(error);
  const code = status === undefined ? undefined : CODE_BY_STATUS[status];
  if (code) return new DomainError(code, DETAILS[code] ?? ERROR_CODES[code].title, {}, { cause: error });
  return domainErrorOf(error) ?? new DomainError('internal', 'Something went wrong on our side', {}, { cause: error });
}

/** The RFC 9457 body of a refusal; never anything of its cause. */
export function problemOf(refusal: DomainError, requestId: string): Problem {
  const { errors, ...members } = refusal.details;
  const { status, type, title } = ERROR_CODES[refusal.code];
  const standard = { type, title, status, detail: refusal.message, code: refusal.code, requestId };
  // Named twice: the first gives the order, the second wins over a member of the same name.
  return { ...standard, ...members, ...standard, ...(errors ? { errors: [...errors] } : {}) };
}

/** Seconds after which trying again may help; undefined where waiting cannot. */
export function retryAfterOf({ code, details }: DomainError): number | undefined {
  if (typeof details.retryAfter === 'number') return Math.max(1, Math.ceil(details.retryAfter));
  const { status } = ERROR_CODES[code];
  return status === 429 || status === 503 || code === 'idempotency_running' ? 1 : undefined;
}

function statusOf(error: unknown): number | undefined {
  if (error instanceof HttpException) return error.getStatus();
  if (error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number') return error.statusCode;
  return undefined;
}
