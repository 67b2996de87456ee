import { AsyncLocalStorage } from 'node:async_hooks';

/** A claimed Idempotency-Key; the change that the request makes stores its answer under it. */
export interface IdempotencyClaim {
  readonly actorId: string;
  readonly key: string;
  /** Instant of the claim, the fencing token: a claim taken over by a later send can no longer commit. */
  readonly claimedAt: Date;
  readonly status: number;
  readonly secretFields: readonly string[];
}

/** What belongs to one request wherever its code runs. */
export interface RequestContext {
  readonly requestId: string;
  idempotency?: IdempotencyClaim;
}

/** Carried from the request's first hook to its change, so that services need not pass it on. Empty in jobs and seeds. */
export const requestContext = new AsyncLocalStorage<RequestContext>();
