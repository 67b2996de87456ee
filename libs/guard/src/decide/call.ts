import type { FailMode, Scope } from '@quotaplane/contracts';

/** The endpoint class of a call, as the catalogue or, before it is known, the service says. */
export interface CallClass {
  readonly slug: string;
  readonly meter: string;
  readonly failMode: FailMode;
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
