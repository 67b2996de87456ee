import { emptyScript, emptyScriptPipelined, ping } from './bare.contender';
import type { Contender } from './contender';
import { fastifyRateLimit } from './fastify-rate-limit.contender';
import { quotaplane } from './quotaplane.contender';
import { quotaplaneStore } from './quotaplane-store.contender';
import { rateLimitRedis } from './rate-limit-redis.contender';
import { rateLimiterFlexible } from './rate-limiter-flexible.contender';
import { throttler } from './throttler.contender';
import { upstash } from './upstash.contender';

/** Everyone who is measured, in the order of a round. Each runs in a process of its own. */
export const CONTENDERS = {
  'rate-limiter-flexible': rateLimiterFlexible,
  'quotaplane': quotaplane,
  'quotaplane store': quotaplaneStore,
  // The same once more: what its ratio is away from 1 is noise.
  'rate-limiter-flexible (A/A)': rateLimiterFlexible,
  'empty EVALSHA': emptyScript,
  'empty EVALSHA, auto-pipelined': emptyScriptPipelined,
  'PING': ping,
  '@nestjs/throttler on Redis': throttler,
  'rate-limit-redis': rateLimitRedis,
  '@fastify/rate-limit on Redis': fastifyRateLimit,
  '@upstash/ratelimit': upstash,
} as const satisfies Readonly<Record<string, (redisUrl: string) => Promise<Contender>>>;
export type ContenderName = keyof typeof CONTENDERS;

export const BASE: ContenderName = 'rate-limiter-flexible';
export const OURS: ContenderName = 'quotaplane';
