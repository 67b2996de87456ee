import { CSRF_HEADER, DomainError } from '@quotaplane/contracts';
import type { FastifyRequest } from 'fastify';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses a write that rides on the session cookie from another site. The console's header cannot be set by a cross-site form, and
 * Origin and Sec-Fetch-Site are the browser's own word on where the request came from.
 * @throws {DomainError} csrf_refused
 */
export function requireSameSite(request: FastifyRequest): void {
  if (SAFE_METHODS.has(request.method)) return;
  if (request.headers[CSRF_HEADER.toLowerCase()] === undefined) throw refused(`Send ${CSRF_HEADER} with every write of a session`);
  requireOwnOrigin(request);
}

/** The half that also guards sign-in, which has no cookie yet. @throws {DomainError} csrf_refused */
export function requireOwnOrigin(request: FastifyRequest): void {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw refused('The request came from another site');
  if (origin !== undefined && hostOf(origin) !== hostOf(`${request.protocol}://${request.host}`)) throw refused('The request came from another site');
}

/** Host and port; a default port is left out, as browsers do in Origin. */
function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null;
}

function refused(message: string): DomainError {
  return new DomainError('csrf_refused', message);
}
