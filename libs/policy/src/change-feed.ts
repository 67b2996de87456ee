import type { FeedEntry } from '@quotaplane/contracts';
import type { Redis } from 'ioredis';
import type { OnStoreError } from './store-errors';

export interface FeedHandler {
  /** Synchronous: when it returns, the cache has dropped what the entry names. */
  entry(entry: FeedEntry, id: string): void;
  /** Entries were missed: drop everything. */
  gap(): void;
  /** After each batch of entries and after a gap: all up to `position` is applied. */
  applied?(position: string): void;
}
export interface ChangeFeedOptions {
  /** Makes a connection of the feed's own, for it blocks; called again after each cut. */
  readonly connect: () => Redis;
  readonly handler: FeedHandler;
  readonly onError?: OnStoreError;
}

export class ChangeFeed {
  constructor(private readonly options: ChangeFeedOptions) {}
  /** Reads the stream's last id, then follows; resolves when the position is known or after `waitMs` (default 1,000) without the store. */
  start(waitMs?: number): Promise<void> { throw new Error(String(waitMs)); }
  stop(): Promise<void> { throw new Error(String(this.options)); }
  get position(): string { throw new Error('not built'); }
  /** True while everything published more than 1.6 s ago is applied. */
  get isCurrent(): boolean { throw new Error('not built'); }
}
