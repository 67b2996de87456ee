import { createServer } from 'node:http';
import { register } from 'prom-client';
import { ConfigError } from '../config/app-config';

export interface MetricsServer {
  close(): Promise<void>;
}

/**
 * Serves `/metrics` and `/health/live` of the worker where a port is given; the worker answers nothing else over HTTP.
 * @throws {ConfigError} the port is no port, or taken
 */
export async function serveMetrics(port: string | undefined): Promise<MetricsServer | undefined> {
  if (port === undefined || port === '') return undefined;
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw new ConfigError('Configuration: QUOTAPLANE_WORKER_PORT must be a port from 0 to 65535.');
  const server = createServer((request, response) => {
    if (request.url === '/health/live') {
      response.end('ok\n');
      return;
    }
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    register.metrics().then(
      (text) => response.writeHead(200, { 'Content-Type': register.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new ConfigError(`Port ${port} cannot be used: ${error.message}. Set QUOTAPLANE_WORKER_PORT to another.`)));
    server.listen(Number(port), resolve);
  });
  return {
    close: () => new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    }),
  };
}
