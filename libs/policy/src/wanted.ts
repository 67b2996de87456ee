import type { Redis } from 'ioredis';
import type { OnStoreError } from './store-errors';

export type WantedMember = `tenant:${string}` | `key:${string}` | 'classes' | 'fallback';

export interface WantedOptions {
  readonly redis: Redis;
  readonly onError?: OnStoreError;
}

/** The bounded set `qp:wanted` of what guards missed; the worker serves it first. */
export class Wanted {
  constructor(private readonly options: WantedOptions) {}
  /** Fire and forget; the same member at most once a second from this node. */
  want(member: WantedMember): void { throw new Error(member); }
  /** Worker side: removes and returns up to `count` members; rejects when the store is away. */
  take(count: number): Promise<readonly WantedMember[]> { throw new Error(count + String(this.options)); }
}
