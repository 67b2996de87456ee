/** The part of a request that guards, resolvers and decorators read; Fastify's and Express's requests both have it. */
export interface GuardedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** A customer, or a service of the platform itself: `keyId` and `userId` are what limits of scope `key` and `user` count by. */
export interface TenantIdentity {
  readonly kind: 'tenant';
  readonly tenant: string;
  readonly keyId?: string | null | undefined;
  readonly userId?: string | null | undefined;
  /** `service`: a key of the reserved tenant `platform`, whose tier and budget internal calls have to themselves. */
  readonly keyKind?: 'customer' | 'service' | undefined;
}

/** Who is calling. */
export type Identity =
  | TenantIdentity
  /** No credentials: the `anonymous` tier, counted by address. */
  | { readonly kind: 'anonymous' }
  /** Wrong credentials: answered with 401, never treated as anonymous. */
  | { readonly kind: 'unauthenticated'; readonly detail?: string }
  /**
   * Who it is cannot be found out just now, such as a key this node has never seen while the store is away: the endpoint class's fail mode decides,
   * with the service's default limits counted by address; never the anonymous tier, and never 401.
   */
  | { readonly kind: 'unavailable' };

/** Tells who is calling. Replace the default ({@link ApiKeyIdentity}) when the service has its own sign-in. */
export interface IdentityResolver {
  /** Must not throw for wrong credentials: answer `unauthenticated`. */
  resolve(request: GuardedRequest): Identity | Promise<Identity>;
}

/** First value of a header in lower case; undefined when absent or empty. */
export function headerOf(request: GuardedRequest, name: string): string | undefined {
  const value = request.headers[name];
  const first = Array.isArray(value) ? value[0] : value;
  return first === '' ? undefined : first;
}
