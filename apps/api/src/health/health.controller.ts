import { Controller, Get, Header, HttpStatus, Inject, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { register } from 'prom-client';
import { OpenRoute } from '../http/endpoint.decorator';
import { Readiness, type ReadinessReport } from './readiness';

/** For orchestrators and Prometheus; open to everyone who reaches the port. */
@Controller()
export class HealthController {
  constructor(@Inject(Readiness) private readonly readiness: Readiness) {}

  @Get('/health/live')
  @OpenRoute()
  live(): { status: 'live' } {
    return { status: 'live' };
  }

  @Get('/health/ready')
  @OpenRoute()
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<ReadinessReport> {
    const report = await this.readiness.report();
    void reply.code(report.ready ? HttpStatus.OK : HttpStatus.SERVICE_UNAVAILABLE);
    return report;
  }

  @Get('/metrics')
  @OpenRoute()
  @Header('Content-Type', register.contentType)
  metrics(): Promise<string> {
    return register.metrics();
  }
}
