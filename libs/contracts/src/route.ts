import type { z } from 'zod';
import type { Right } from './rights';

export type HttpVerb = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Who may call: a right, any signed-in caller, or everyone. */
export type Access = Right | 'signed-in' | 'public';

/**
 * One endpoint of the control plane: input, output and rules in one place. Controllers, OpenAPI and the console are made from it.
 * - `ifMatch`: the caller must send `If-Match` (428), checked against the version (412).
 * - `idempotent`: a POST that changes something and therefore takes `Idempotency-Key`.
 * - `secretFields`: members shown once and left out of a replay.
 */
export interface RouteContract {
  readonly method: HttpVerb;
  /** OpenAPI form, `/v1/tenants/{slug}`. */
  readonly path: string;
  readonly summary: string;
  readonly tag: string;
  readonly access: Access;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  readonly response: z.ZodType | 'csv-or-ndjson' | 'event-stream' | 'empty';
  readonly status: 200 | 201 | 204;
  readonly ifMatch?: true;
  readonly idempotent?: true;
  readonly secretFields?: readonly string[];
  /** Path or query member that names a tenant; the one place where a token's binding is applied. */
  readonly tenantParam?: string;
  /** Largest body of a request in bytes, where it is another than the default of 256 kB. */
  readonly bodyLimitBytes?: number;
  /** What the body is by its media type, where others than application/json are taken; all are JSON. `body` then says what they have in common. */
  readonly bodyTypes?: Readonly<Record<string, z.ZodType>>;
  /** Headers that this route reads and a caller may leave out. */
  readonly headers?: z.ZodObject;
  /** Its service judges the items of the body one by one, their text included, so that a bad one never loses the others. */
  readonly judgesItems?: true;
}

type In<T> = T extends z.ZodType ? z.output<T> : undefined;

/** What a controller receives after validation. */
export interface RouteInput<R extends RouteContract> {
  readonly params: In<R['params']>;
  readonly query: In<R['query']>;
  readonly body: In<R['body']>;
  /** Version from `If-Match`; defined exactly where the route has `ifMatch`. */
  readonly ifVersion: R extends { readonly ifMatch: true } ? number : undefined;
}

/** What a controller returns. */
export type RouteOutput<R extends RouteContract> = R['response'] extends z.ZodType ? z.input<R['response']> : unknown;
/** What a client gets back. */
export type RouteAnswer<R extends RouteContract> = R['response'] extends z.ZodType ? z.output<R['response']> : unknown;
/** What a client sends. */
export type RouteBody<R extends RouteContract> = R['body'] extends z.ZodType ? z.input<R['body']> : undefined;
export type RouteQuery<R extends RouteContract> = R['query'] extends z.ZodType ? Partial<z.input<R['query']>> : undefined;
