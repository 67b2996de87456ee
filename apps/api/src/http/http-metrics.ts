import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Histogram, register } from 'prom-client';

const DURATION = 'quotaplane_api_request_duration_seconds';

/** Times every answer by route template, never by path: a metric label must not grow with tenants. */
export function measureRequests(instance: FastifyInstance): void {
  if (!register.getSingleMetric('process_cpu_user_seconds_total')) collectDefaultMetrics();
  const found = register.getSingleMetric(DURATION);
  const duration =
    found instanceof Histogram
      ? found
      : new Histogram({ name: DURATION, help: 'Time from the first byte of a request to the end of its answer', labelNames: ['method', 'route', 'status'], buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5] });
  instance.addHook('onResponse', (request, reply, done) => {
    duration.observe({ method: request.method, route: request.routeOptions.url ?? 'none', status: String(reply.statusCode) }, reply.elapsedTime / 1000);
    done();
  });
}
