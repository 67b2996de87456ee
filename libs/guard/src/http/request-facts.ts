import { randomUUID } from 'node:crypto';
import { REQUEST_ID_HEADER } from '@quotaplane/contracts';
import { headerOf, type GuardedRequest } from '../identity/identity';

interface RoutedRequest {
  /** Fastify */
  readonly routeOptions?: { readonly url?: string };
  /** Express */
  readonly route?: { readonly path?: unknown };
  readonly baseUrl?: string;
}

const REQUEST_ID = REQUEST_ID_HEADER.toLowerCase();
const SANE_ID = /^[\w.:-]{1,64}$/;
const UNKNOWN_ROUTE = '*';

/** Template of the matched route, such as `/users/:id`: one counter a route, however many paths it has. */
export function routeTemplateOf(request: GuardedRequest & RoutedRequest): string {
  const template = request.routeOptions?.url ?? request.route?.path;
  if (template === undefined) return UNKNOWN_ROUTE;
  return `${request.baseUrl ?? ''}${String(template)}`;
}

/** The caller's own X-Request-Id where it is sane, else a fresh one. */
export function requestIdOf(request: GuardedRequest): string {
  const own = headerOf(request, REQUEST_ID);
  return own !== undefined && SANE_ID.test(own) ? own : randomUUID();
}
