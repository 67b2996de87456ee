import fastifyRateLimit from '@fastify/rate-limit';
import { ThrottlerStorageRedisService } from '@nest-lab/throttler-storage-redis';
import { HttpException, type CanActivate, type DynamicModule, type INestApplication, type Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ThrottlerGuard, ThrottlerModule, type ThrottlerStorage } from '@nestjs/throttler';
import { QuotaGuard, QuotaplaneModule } from '@quotaplane/guard';
import { rateLimit } from 'express-rate-limit';
import { Redis } from 'ioredis';
import { RedisStore, type RedisReply } from 'rate-limit-redis';
import { FlexibleGuard } from './flexible.guard';
import { DAY_MS, FEW, MINUTE_MS, PLENTY, userOf } from './rules';

export type Framework = 'fastify' | 'express';

/** How one contender guards the app. */
export interface Contender {
  readonly imports?: readonly DynamicModule[];
  /** Guards every route. */
  readonly guard?: Type<CanActivate>;
  /** Does the rest, before the routes are made. */
  readonly prepare?: (app: INestApplication) => Promise<void>;
}

class IdleGuard implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

/** Made in the app's own process. @param redisUrl of the one Redis that all use */
export const CONTENDERS: Readonly<Record<string, (redisUrl: string, framework: Framework) => Contender>> = {
  unguarded: () => ({}),
  idle: () => ({ guard: IdleGuard }),
  ours: (redisUrl) => ({ imports: [QuotaplaneModule.forRoot({ redisUrl, service: 'bench' })], guard: QuotaGuard }),
  'throttler-memory': () => throttled(undefined),
  'throttler-redis': (redisUrl) => throttled(new ThrottlerStorageRedisService(new Redis(redisUrl))),
  flexible: (redisUrl) => {
    FlexibleGuard.connect(redisUrl);
    return { guard: FlexibleGuard };
  },
  native: (redisUrl, framework) => ({ prepare: framework === 'fastify' ? registerPlugin(redisUrl) : useMiddleware(redisUrl) }),
};

function throttled(storage: ThrottlerStorage | undefined): Contender {
  const options = { throttlers: [{ name: 'default', ttl: MINUTE_MS, limit: PLENTY }], getTracker: userOf };
  return { imports: [ThrottlerModule.forRoot(storage ? { ...options, storage } : options)], guard: ThrottlerGuard };
}

/** @fastify/rate-limit; the small route names its own limit. */
function registerPlugin(redisUrl: string): (app: INestApplication) => Promise<void> {
  return async (app) => {
    const redis = new Redis(redisUrl);
    await (app as NestFastifyApplication).register(fastifyRateLimit, {
      max: PLENTY, timeWindow: MINUTE_MS, redis, keyGenerator: userOf,
      // Nest takes its own error for a fault of the server.
      errorResponseBuilder: (_request: unknown, { statusCode }: { statusCode: number }) => new HttpException('Too Many Requests', statusCode),
    });
  };
}

/** express-rate-limit over rate-limit-redis, one middleware a route. */
function useMiddleware(redisUrl: string): (app: INestApplication) => Promise<void> {
  return (app) => {
    const redis = new Redis(redisUrl);
    const limited = (prefix: string, limit: number, windowMs: number): ReturnType<typeof rateLimit> =>
      rateLimit({
        limit, windowMs, standardHeaders: 'draft-8', legacyHeaders: false, keyGenerator: userOf,
        store: new RedisStore({ prefix, sendCommand: (command: string, ...args: string[]) => redis.call(command, ...args) as Promise<RedisReply> }),
      });
    app.use('/plain', limited('rl:plain:', PLENTY, MINUTE_MS));
    app.use('/few', limited('rl:few:', FEW, DAY_MS));
    return Promise.resolve();
  };
}
