import type { Redis } from 'ioredis';

/** The client of a single Redis or of a Redis Cluster, as this room uses it: every command and MULTI names keys of one slot only. */
export interface UsageRedis extends Pick<Redis, 'del' | 'eval' | 'evalsha' | 'exists' | 'hdel' | 'hget' | 'hgetall' | 'hmget' | 'hset' | 'hvals' | 'multi' | 'pipeline' | 'sadd' | 'smembers' | 'srem'> {
  on(event: 'ready', listener: () => void): unknown;
  off(event: 'ready', listener: () => void): unknown;
}
