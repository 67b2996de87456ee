import type { GuardedRequest } from '../identity/identity';

type HeaderValues = Readonly<Record<string, string | string[] | undefined>>;

/** What a transport hands over as its request: much of it may be missing. */
export interface CarrierRequest {
  readonly headers?: HeaderValues | Iterable<readonly [string, string]> | undefined;
  readonly socket?: GuardedRequest['socket'] | null | undefined;
}

export interface ViewParts {
  readonly method: string;
  /** Template that limits per route count by; bounded by the service's own code. */
  readonly route: string;
  /** What the caller sent: arguments, payload, event. */
  readonly body: unknown;
  readonly headers?: HeaderValues;
  readonly socket?: GuardedRequest['socket'];
}

/**
 * A call of another context in the shape of a request. Whatever the transport's own request has, such as the `user` of an authentication guard, is
 * there too.
 */
export function requestView(carrier: CarrierRequest | null | undefined, parts: ViewParts): GuardedRequest {
  const own = {
    method: parts.method,
    url: parts.route,
    headers: parts.headers ?? headersOf(carrier?.headers),
    params: {},
    query: {},
    body: parts.body,
    socket: parts.socket ?? carrier?.socket ?? {},
    // Where the route template is read from; an Express request's own prefix does not belong to it.
    routeOptions: { url: parts.route },
    baseUrl: '',
  };
  // Defined, not assigned: some of these are getters without a setter on the transport's request.
  return Object.create(carrier ?? null, Object.getOwnPropertyDescriptors(own)) as GuardedRequest;
}

function headersOf(headers: CarrierRequest['headers']): HeaderValues {
  if (!headers) return {};
  // Headers of the fetch API have no fields by name.
  return isIterable(headers) ? Object.fromEntries(headers) : headers;
}

const isIterable = (value: object): value is Iterable<readonly [string, string]> => Symbol.iterator in value;
