import type { FastifyRequest } from 'fastify';
import type { Caller } from './caller';

/** What a handler receives, after the access guard has validated it against the route's contract. */
export interface ValidatedInput {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly ifVersion: number | undefined;
}

/** A request on its way through: the access guard fills in who asks and what. */
export interface ApiRequest extends FastifyRequest {
  caller?: Caller;
  input?: ValidatedInput;
}
