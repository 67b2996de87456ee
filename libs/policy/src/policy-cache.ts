import type { Policy } from '@quotaplane/contracts';
import type { Redis } from 'ioredis';
import type { OnStoreError } from './store-errors';

/** What a stale answer of the check brings (M1); `subjects` are overrides of single subjects, passed through untouched in this release. */
export interface StaleAnswer {
  readonly head: string;
  readonly policy: string | null;
  readonly subjects: readonly (string | null)[];
}

/** `isStale`: a change was named that this entry does not hold yet. Still last known good: send its head, the check answers `stale`. */
export type CachedPolicy =
  | { readonly kind: 'policy'; readonly head: string; readonly policy: Policy; readonly isStale: boolean }
  /** The fallback policy applies; `head` is what to send as the known head. */
  | { readonly kind: 'unknown' | 'deleted'; readonly head: string; readonly isStale: boolean };

/** `lost`: what the store holds is older than what this node has seen, or broken: want the tenant, apply the fail mode. */
export type Accepted = 'accepted' | 'lost';

export type LoadAnswer =
  | { readonly status: 'loaded'; readonly cached: CachedPolicy }
  /** No head: a loss of data (want the tenant). */
  | { readonly status: 'absent' | 'lost' }
  | { readonly status: 'unavailable' };

export interface PolicyCacheOptions {
  readonly redis: Redis;
  readonly maxTenants?: number;
  readonly onError?: OnStoreError;
}

export class PolicyCache {
  constructor(private readonly options: PolicyCacheOptions) {}
  get(tenant: string): CachedPolicy | undefined { throw new Error(tenant); }
  accept(tenant: string, answer: StaleAnswer): Accepted { throw new Error(tenant + answer.head); }
  load(tenant: string, atLeastHead?: string): Promise<LoadAnswer> { throw new Error(tenant + atLeastHead + String(this.options)); }
  drop(tenant: string, head?: string): void { throw new Error(tenant + head); }
  dropAll(): void { throw new Error('not built'); }
}
