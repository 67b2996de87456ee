import type { CatalogueClass, FailMode, Scope } from '@quotaplane/contracts';

/** The endpoint class of a call, as the catalogue or, before it is known, the service says. */
export interface CallClass {
  readonly slug: string;
  readonly meter: string;
  readonly failMode: FailMode;
  /** How a call has to end for its units to go back; absent: none do. */
  readonly refundOn?: CatalogueClass['refundOn'] | undefined;
  /** What a repeat under the same Idempotency-Key costs; absent: the full cost. */
  readonly retry?: CatalogueClass['retry'];
}

/** One call to be decided: who, what it costs and what narrows its counters. */
export interface Call {
  readonly tenant: string;
  readonly isAnonymous: boolean;
  readonly class: CallClass;
  readonly method: string;
  /** Route template, such as `/users/:id`; never the path. */
  readonly route: string;
  /** Whole units, 0 or more. */
  readonly cost: number;
  /** Why `@Cost` worked out no cost; the call then looks without spending and is refused. */
  readonly costFault?: string | undefined;
  /** Normalised address; always known. */
  readonly address: string;
  readonly keyId?: string | null | undefined;
  readonly userId?: string | null | undefined;
  /** Whose API key it is: a customer's, or that of a service of ours. */
  readonly keyKind?: 'customer' | 'service' | undefined;
  /** Holds one slot of the tenant's concurrency from admission until it has ended. */
  readonly holdsSlot?: boolean | undefined;
  /** The caller's Idempotency-Key, where the class makes repeats cheaper and the key is one; see `idempotencyKeyOf`. */
  readonly idempotencyKey?: string | undefined;
  /** On the allow list: no rate limit and no slot is asked, usage still counts. The decider says so. */
  readonly isExempt?: boolean | undefined;
  /** By scope, `subject:account` and the like. */
  readonly subjects?: ReadonlyMap<string, string> | undefined;
  /** Monotonic instant (`performance.now()`) at which the call reached the guard. */
  readonly arrivedAtMs: number;
}

/** Whom a limit of this scope counts on this call; undefined where the call has no such subject, so that the limit does not apply. */
export function subjectOf(call: Call, scope: Scope): string | undefined {
  switch (scope) {
    case 'global':
      return '';
    case 'tenant':
      // Callers without a tenant have nothing in common but their missing credentials: each address counts alone.
      return call.isAnonymous ? call.address : '';
    case 'ip':
      return call.address;
    case 'key':
      return call.keyId ?? undefined;
    case 'user':
      return call.userId ?? undefined;
    default:
      return call.subjects?.get(scope);
  }
}

/** Stands in for the tenant while nobody can say who calls; no slug, so that it never meets a real one. */
export const UNIDENTIFIED = '?';
