import { HttpException, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Redis } from 'ioredis';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { DAY_MS, FEW, MINUTE_MS, PLENTY, userOf } from './rules';

/** rate-limiter-flexible, as its own documentation puts it into a guard; with the headers that it proposes. */
export class FlexibleGuard implements CanActivate {
  private static plain: RateLimiterRedis;
  private static few: RateLimiterRedis;

  static connect(redisUrl: string): void {
    const storeClient = new Redis(redisUrl, { enableOfflineQueue: true });
    this.plain = new RateLimiterRedis({ storeClient, keyPrefix: 'rlf:plain', points: PLENTY, duration: MINUTE_MS / 1000 });
    this.few = new RateLimiterRedis({ storeClient, keyPrefix: 'rlf:few', points: FEW, duration: DAY_MS / 1000 });
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const limiter = context.getHandler().name === 'few' ? FlexibleGuard.few : FlexibleGuard.plain;
    const reply = http.getResponse<{ header(name: string, value: string | number): unknown }>();
    try {
      headersOf(reply, limiter.points, await limiter.consume(userOf(http.getRequest())));
      return true;
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      headersOf(reply, limiter.points, refusal);
      reply.header('Retry-After', Math.ceil(refusal.msBeforeNext / 1000));
      throw new HttpException('Too Many Requests', 429);
    }
  }
}

function headersOf(reply: { header(name: string, value: string | number): unknown }, limit: number, { remainingPoints, msBeforeNext }: RateLimiterRes): void {
  reply.header('X-RateLimit-Limit', limit);
  reply.header('X-RateLimit-Remaining', remainingPoints);
  reply.header('X-RateLimit-Reset', Math.ceil(msBeforeNext / 1000));
}
