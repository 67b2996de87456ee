import type { AddressInfo } from 'node:net';
import express from 'express';
import { createLimiter, type GuardedRequest } from '@quotaplane/guard/limiter';

/** What the caller sent is looked at before any validation: without a list it is one unit. */
const itemCount = ({ body }: GuardedRequest): number => {
  const { items } = (body ?? {}) as { items?: unknown };
  return Array.isArray(items) ? Math.max(1, items.length) : 1;
};

const limiter = await createLimiter({ redisUrl: process.env['REDIS_URL'] ?? '', service: 'consumer-plain', storeBudgetMs: 1000 });
const app = express();
app.use(express.json());
app.get('/orders', limiter.express({ endpointClass: 'search' }), (_request, response) => void response.json([]));
app.post('/orders', limiter.express({ cost: itemCount }), (_request, response) => void response.status(201).json({ ok: true }));

const server = app.listen(Number(process.env['PORT'] ?? 0), '127.0.0.1', () => {
  console.log(`listening http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.once('SIGTERM', () => {
  server.close(() => void limiter.close());
  server.closeAllConnections();
});
