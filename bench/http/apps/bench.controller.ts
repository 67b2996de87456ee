import { Controller, Get } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { Throttle } from '@nestjs/throttler';
import { EndpointClass } from '@quotaplane/guard';
import { DAY_MS, FEW } from './rules';

/** The same two routes for all: what is said for one guard means nothing to another. */
@Controller()
export class BenchController {
  @Get('plain')
  plain(): object {
    return { ok: true };
  }

  @Get('few')
  @EndpointClass('few')
  @Throttle({ default: { limit: FEW, ttl: DAY_MS } })
  @RouteConfig({ rateLimit: { max: FEW, timeWindow: DAY_MS } })
  few(): object {
    return { ok: true };
  }
}
