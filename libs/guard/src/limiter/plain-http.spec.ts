import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import fastify from 'fastify';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createLimiter, type GuardedRequest, type Limiter } from '../limiter.entry';
import { limitOf } from '../specs/policies';
import { quietLogger, startPlatform, type SpecPlatform } from '../specs/spec-platform';

let platform: SpecPlatform;
let limiter: Limiter;
const closing: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  platform = await startPlatform();
  limiter = await createLimiter({ ...platform.options, service: 'plain', logger: quietLogger() });
});
afterAll(async () => {
  await limiter.close();
  await platform.stop();
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const listening = async (server: Server): Promise<string> => {
  await new Promise((resolve) => server.once('listening', resolve));
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
const itemCount = ({ body }: GuardedRequest): number => (body as { items: unknown[] }).items.length;
const jsonPost = (headers: Record<string, string>, body: string): RequestInit => ({ method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body });

describe('a plain Express service', () => {
  const start = (): Promise<string> => {
    const app = express();
    app.use(limiter.express({ skip: ({ url }) => url === '/health' || url.startsWith('/routed') }));
    app.use(express.json());
    app.get('/ok', (_request, response) => void response.json({ ok: true }));
    app.get('/fail', () => {
      throw new Error('no');
    });
    app.get('/routed/:id', limiter.express(), (_request, response) => void response.json({}));
    app.post('/routed', limiter.express({ cost: itemCount }), (_request, response) => void response.json({}));
    app.use((_error: unknown, _request: express.Request, response: express.Response, next: express.NextFunction) => {
      if (response.headersSent) return next();
      response.status(500).end();
    });
    return listening(app.listen(0, '127.0.0.1'));
  };

  it('carries the fields on every answer and denies with the problem', async () => {
    const headers = await platform.tenantWith('express', { limits: [limitOf({ limit: 1, burst: 4 })] });
    const url = await start();
    const answers = [];
    for (const [path, init] of [['/ok', { headers }], ['/fail', { headers }], ['/nowhere', { headers }], ['/ok', jsonPost(headers, '{"a":')], ['/ok', { headers }]] as const) {
      answers.push(await fetch(`${url}${path}`, init));
    }
    expect(answers.map(({ status }) => status)).toEqual([200, 500, 404, 500, 429]);
    expect(answers.map((answer) => answer.headers.get('ratelimit-remaining'))).toEqual(['3', '2', '1', '0', '0']);
    expect(answers[4]?.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(await answers[4]?.json()).toMatchObject({ code: 'rate_limited', status: 429 });
    expect((await fetch(`${url}/health`)).headers.has('ratelimit')).toBe(false);
    expect((await fetch(`${url}/ok`, { headers: { 'X-Api-Key': 'nonsense' } })).status).toBe(401);
  });

  it('knows template and body where it stands on a route', async () => {
    const headers = await platform.tenantWith('express-route', { limits: [limitOf({ name: 'route', perRoute: true, limit: 1, burst: 5 })] });
    const url = await start();
    expect((await fetch(`${url}/routed/1`, { headers })).headers.get('ratelimit-remaining')).toBe('4');
    expect((await fetch(`${url}/routed/2`, { headers })).headers.get('ratelimit-remaining')).toBe('3');
    expect((await fetch(`${url}/routed`, jsonPost(headers, '{"items":[1,2,3]}'))).headers.get('ratelimit-remaining')).toBe('2');
    // What a cost function throws is the service's own error.
    expect((await fetch(`${url}/routed`, jsonPost(headers, '{}'))).status).toBe(500);
  });
});

describe('a plain Fastify service', () => {
  const start = async (): Promise<string> => {
    const app = fastify();
    await app.register(limiter.fastify({ skip: ({ url }) => url.startsWith('/bulk') }));
    app.get('/ok', () => ({ ok: true }));
    app.get('/items/:id', () => ({}));
    app.get('/fail', () => {
      throw new Error('no');
    });
    await app.register(async (scope) => {
      await scope.register(limiter.fastify({ hook: 'preHandler', cost: itemCount, endpointClass: ({ method }) => (method === 'POST' ? 'bulk' : 'default') }));
      scope.post('/bulk', () => ({}));
    });
    closing.push(() => app.close());
    return app.listen({ port: 0, host: '127.0.0.1' });
  };

  it('carries the fields on every answer and denies with the problem', async () => {
    const headers = await platform.tenantWith('fastify', { limits: [limitOf({ limit: 1, burst: 4 })] });
    const url = await start();
    const answers = [];
    for (const [path, init] of [['/ok', { headers }], ['/fail', { headers }], ['/nowhere', { headers }], ['/ok', jsonPost(headers, '{"a":')], ['/ok', { headers }]] as const) {
      answers.push(await fetch(`${url}${path}`, init));
    }
    expect(answers.map(({ status }) => status)).toEqual([200, 500, 404, 400, 429]);
    expect(answers.map((answer) => answer.headers.get('ratelimit-remaining'))).toEqual(['3', '2', '1', '0', '0']);
    expect(answers[4]?.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(await answers[4]?.json()).toMatchObject({ code: 'rate_limited', status: 429 });
  });

  it('knows the template at once, and the body in preHandler', async () => {
    const headers = await platform.tenantWith('fastify-route', { limits: [limitOf({ name: 'route', perRoute: true, limit: 1, burst: 5 })] });
    const url = await start();
    expect((await fetch(`${url}/items/1`, { headers })).headers.get('ratelimit-remaining')).toBe('4');
    expect((await fetch(`${url}/items/2`, { headers })).headers.get('ratelimit-remaining')).toBe('3');
    expect((await fetch(`${url}/bulk`, jsonPost(headers, '{"items":[1,2,3]}'))).headers.get('ratelimit-remaining')).toBe('2');
  });
});
