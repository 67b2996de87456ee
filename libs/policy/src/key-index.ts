import type { KeyRecord } from '@quotaplane/contracts';
import type { Redis } from 'ioredis';
import type { OnStoreError } from './store-errors';
import type { Wanted } from './wanted';

export type KeyLookup =
  | { readonly status: 'found'; readonly record: KeyRecord }
  /** No such key, or revoked: 401, never anonymous. */
  | { readonly status: 'unknown' }
  /** Neither the store nor this node knows in time: 503. */
  | { readonly status: 'unavailable' };

export interface KeyIndexOptions {
  readonly redis: Redis;
  readonly wanted: Wanted;
  /** The change feed, whose word keeps entries fresh without asking again. */
  readonly feed: { readonly isCurrent: boolean };
  /** Default 100,000; unknown keys have a tenth of it to themselves. */
  readonly maxKeys?: number;
  readonly onError?: OnStoreError;
}

export class KeyIndex {
  constructor(private readonly options: KeyIndexOptions) {}
  /** The cached answer when it may be used without asking; allocates nothing. */
  peek(sha256: string): KeyLookup | undefined { throw new Error(sha256); }
  /** @param deadlineAtMs monotonic instant (`performance.now()`) by which the caller needs the answer */
  lookup(sha256: string, deadlineAtMs: number): Promise<KeyLookup> { throw new Error(sha256 + deadlineAtMs + String(this.options)); }
  drop(sha256: string): void { throw new Error(sha256); }
  dropAll(): void { throw new Error('not built'); }
}
