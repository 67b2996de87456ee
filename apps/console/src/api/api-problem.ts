import type { ErrorCode, FieldError, Problem } from '@quotaplane/contracts';
import { ERROR_CODES_KNOWN } from './contract.facts';

/** What the control plane answered instead of a result, or `network` when it did not answer at all. */
export class ApiProblem extends Error {
  constructor(
    readonly code: ErrorCode | 'network' | 'unreadable',
    message: string,
    /** HTTP status; 0 when there was no answer. */
    readonly status: number,
    /** For the operator to quote; null when no answer came. */
    readonly requestId: string | null,
    readonly errors: readonly FieldError[] = [],
    /** Whole seconds to wait, from Retry-After. */
    readonly retryAfterSeconds: number | null = null,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'ApiProblem';
  }
}

/** Reads a failed answer; one that is not problem+json still becomes an ApiProblem. */
export async function toApiProblem(response: Response): Promise<ApiProblem> {
  const requestIdHeader = response.headers.get('x-request-id');
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  const seconds = Number.isFinite(retryAfter) ? retryAfter : null;
  const problem: unknown = await response.json().catch(() => undefined);
  if (isProblem(problem)) {
    return new ApiProblem(problem.code, problem.detail || problem.title, response.status, problem.requestId, problem.errors, seconds);
  }
  return new ApiProblem(
    'unreadable',
    `The server answered ${response.status} without an explanation.`,
    response.status,
    requestIdHeader,
    [],
    seconds,
  );
}

/** Whether it is a problem of this API: of a proxy's answer neither code nor request id would mean anything. */
function isProblem(body: unknown): body is Problem {
  if (typeof body !== 'object' || body === null) return false;
  const { code, title, detail, requestId, errors = [] } = body as Readonly<Record<string, unknown>>;
  return (
    ERROR_CODES_KNOWN.some((known) => known === code) &&
    [title, detail, requestId].every((member) => typeof member === 'string') &&
    Array.isArray(errors) &&
    errors.every(isFieldError)
  );
}

function isFieldError(error: unknown): error is FieldError {
  if (typeof error !== 'object' || error === null) return false;
  const { pointer, detail } = error as Readonly<Record<string, unknown>>;
  return typeof pointer === 'string' && typeof detail === 'string';
}

/** What to do next, in one sentence. */
export function nextStep(problem: ApiProblem): string {
  switch (problem.code) {
    case 'network':
      return 'Check your connection; what you typed is still here.';
    case 'unauthenticated':
      return 'Sign in again.';
    case 'forbidden':
      return 'Ask an admin for a role that may do this.';
    case 'not_found':
      return 'It may have been removed meanwhile.';
    case 'version_conflict':
      return 'Someone changed it meanwhile. Reload, compare, and try again.';
    case 'invalid':
    case 'malformed':
      return 'Correct the marked fields and try again.';
    case 'in_use':
      return 'Move its users away first.';
    case 'store_unavailable':
      return 'The store is coming back; try again in a few seconds.';
    case 'sign_in_limited':
      // The answer's own sentence says how long to wait.
      return '';
    default:
      return 'Try again; if it stays, quote the request id to whoever runs Quotaplane.';
  }
}
