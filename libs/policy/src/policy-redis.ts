import type { Redis } from 'ioredis';

/** The client of a single Redis or of a Redis Cluster, as this room uses it: every command and script names keys of one slot only. */
export type PolicyRedis = Pick<Redis, 'eval' | 'evalsha' | 'get' | 'hdel' | 'hmget' | 'mget' | 'isCluster' | 'set' | 'spop'>;

/** The client of the change feed: it blocks, so that it is the feed's own, and the feed closes it. */
export interface FeedRedis extends Pick<Redis, 'xrange' | 'xread' | 'xrevrange'> {
  readonly status: string;
  connect(): Promise<void>;
  disconnect(): void;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  once(event: 'ready' | 'close', listener: () => void): unknown;
}
