import { Controller, Get, Header, Inject, Injectable, ServiceUnavailableException } from '@nestjs/common';
import { QuotaMetrics } from '@quotaplane/guard';
import { collectDefaultMetrics } from 'prom-client';

/** Whether this process wants more calls. */
@Injectable()
export class Readiness {
  isDraining = false;
}

/** Unguarded: what load balancers and Prometheus ask for. */
@Controller()
export class OperationsController {
  constructor(
    @Inject(Readiness) private readonly readiness: Readiness,
    @Inject(QuotaMetrics) private readonly metrics: QuotaMetrics,
  ) {
    collectDefaultMetrics({ register: metrics.registry });
  }

  @Get('health')
  health(): object {
    if (this.readiness.isDraining) throw new ServiceUnavailableException('shutting down');
    return { status: 'ok' };
  }

  @Get('metrics')
  @Header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
  scrape(): Promise<string> {
    return this.metrics.registry.metrics();
  }
}
