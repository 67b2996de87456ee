/** The store has no types of its own. */
declare module '@fastify/rate-limit/store/RedisStore.js' {
  import type { Redis } from 'ioredis';

  export default class RedisStore {
    constructor(continueExceeding: boolean, exponentialBackoff: boolean, redis: Redis, key?: string);
    incr(key: string, callback: (error: Error | null, result: { readonly current: number; readonly ttl: number } | null) => void, timeWindow: number, max: number): void;
  }
}
