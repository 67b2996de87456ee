import { request as httpRequest } from 'node:http';
import { Body, Controller, Get, Module, Post, type INestApplication } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { readJournals } from '@quotaplane/usage';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { installEarlyHook, QuotaGuard, QuotaplaneModule, type QuotaplaneOptions } from '../index';
import { ADAPTERS, type Adapter } from './guarded-app';
import { catalogueOf, limitOf, publish } from './policies';
import { startPlatform, type SpecPlatform } from './spec-platform';

const seen = { bodies: 0 };

@Controller()
class EarlyProbe {
  @Get('echo')
  echo(): object {
    return {};
  }

  @Post('count')
  count(@Body() body: unknown): unknown {
    return body;
  }
}

@Module({})
class EarlyProbeModule {}

async function startEarlyApp(adapter: Adapter, options: QuotaplaneOptions): Promise<{ app: INestApplication; url: string }> {
  const platform = adapter === 'fastify' ? new FastifyAdapter({ bodyLimit: 1000 }) : new ExpressAdapter();
  const module = {
    module: EarlyProbeModule, imports: [QuotaplaneModule.forRoot(options)], controllers: [EarlyProbe], providers: [{ provide: APP_GUARD, useExisting: QuotaGuard }],
  };
  const app = await NestFactory.create(module, platform, { logger: false, abortOnError: false });
  installEarlyHook(app, { skip: ({ url }) => url === '/health' });
  countBodies(app, adapter);
  await app.listen(0, '127.0.0.1');
  return { app, url: (await app.getUrl()).replace('[::1]', '127.0.0.1') };
}

/** A parser of its own media type that counts how often it was reached. */
function countBodies(app: INestApplication, adapter: Adapter): void {
  const instance: unknown = app.getHttpAdapter().getInstance();
  if (adapter === 'fastify') {
    const fastify = instance as { addContentTypeParser(type: string, options: object, parser: (request: unknown, body: string, done: (error: null, body: string) => void) => void): void };
    fastify.addContentTypeParser('text/counted', { parseAs: 'string' }, (_request, body, done) => {
      seen.bodies += 1;
      done(null, body);
    });
    return;
  }
  const express = app as INestApplication & { useBodyParser(type: string, options: object): void };
  express.useBodyParser('text', {
    type: ({ headers }: { headers: Record<string, unknown> }) => {
      const isCounted = headers['content-type'] === 'text/counted';
      if (isCounted) seen.bodies += 1;
      return isCounted;
    },
  });
}

describe.each(ADAPTERS)('the early hook on %s', (adapter) => {
  let platform: SpecPlatform;
  let app: INestApplication;
  let url: string;
  let revision = 0;
  const early = { endpointClass: 'early', scope: 'ip', name: 'early-address' } as const;

  const setEarly = (limit: number): Promise<unknown> =>
    // A service's own limits of the tenant are none of the hook's business: neither its class nor its scope.
    publish(platform.publisher, {
      tenant: 'platform', revision: (revision += 1), quotas: [{ meter: 'requests', allowance: 0, overage: 'reject' }],
      limits: [limitOf({ ...early, name: `early-${revision}`, limit: 1, burst: limit }), limitOf({ name: 'all', limit: 0, burst: 0 }), limitOf({ name: 'by-tenant', endpointClass: 'early', limit: 0, burst: 0 })],
    });
  beforeAll(async () => {
    platform = await startPlatform();
    await platform.tenantWith('plain', { limits: [limitOf({ limit: 1000, burst: 1000 })] });
    ({ app, url } = await startEarlyApp(adapter, platform.options));
  });
  afterAll(async () => {
    await app.close();
    await platform.stop();
  });
  beforeEach(() => setEarly(50));

  const post = (path: string, body: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${url}${path}`, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
  const expectEarlyFields = ({ headers }: Response): void => {
    expect(headers.get('ratelimit-policy')).toBe(`"early-${revision}";q=1;w=60;qp-burst=50`);
    expect(headers.get('ratelimit')).toMatch(/^"early-\d+";r=49;/);
    expect(headers.get('ratelimit-limit')).toBe('50');
    expect(headers.get('ratelimit-reset')).toBe('60');
  };

  it.each([
    ['an unmatched route', 404, () => fetch(`${url}/nowhere`)],
    ['a wrong method', 404, () => fetch(`${url}/echo`, { method: 'PUT' })],
    ['a body that cannot be parsed', 400, () => post('/count', '{"a":')],
    ['a body that is too large', 413, () => post('/count', JSON.stringify({ text: 'x'.repeat(200_000) }))],
  ])('puts the fields on the answer to %s', async (_what, status, call) => {
    const answer = await call();
    expect(answer.status).toBe(status);
    expectEarlyFields(answer);
  });

  // Fails when the guard leaves what the hook has set.
  it('gives way to the guard’s own fields, to the last of them', async () => {
    const answer = await fetch(`${url}/echo`, { headers: { 'X-Api-Key': 'demo-plain', Origin: 'https://shop.example' } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('ratelimit-policy')).toBe('"per-minute";q=1000;w=60');
    expect(answer.headers.get('ratelimit')).toMatch(/^"per-minute";r=999;/);
    expect(answer.headers.get('access-control-expose-headers')?.match(/RateLimit-Policy/g)).toHaveLength(1);
  });

  // Fails when a refusal that no limit was asked for takes the early fields away.
  it('leaves its fields on a 401, which has none of its own', async () => {
    const answer = await fetch(`${url}/echo`, { headers: { 'X-Api-Key': 'garbage' } });
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'ApiKey']);
    expectEarlyFields(answer);
  });

  // Fails when the hook lets a call go on at once that has to wait for its turn.
  it('lets calls of a queue wait for their turn', async () => {
    await publish(platform.publisher, {
      tenant: 'platform', revision: (revision += 1),
      limits: [limitOf({ ...early, name: `early-${revision}`, algorithm: 'leaky-bucket', limit: 10, windowMs: 2000, burst: null, maxQueue: 2, maxWaitMs: 2000 })],
    });
    const startedAtMs = performance.now();
    const statuses = await Promise.all(Array.from({ length: 3 }, async () => (await fetch(`${url}/nowhere`)).status));
    expect(statuses).toEqual([404, 404, 404]);
    // The third leaves two turns of 200 ms after the first.
    expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(390);
  });

  // Fails when the hook runs after the parser, or lets the request go on.
  it('denies before the body is parsed, with 429, the fields and the problem', async () => {
    await setEarly(1);
    await post('/count', 'one', { 'content-type': 'text/counted' });
    const before = seen.bodies;
    const denied = await post('/count', 'two', { 'content-type': 'text/counted' });
    expect(denied.status).toBe(429);
    expect(denied.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(Number(denied.headers.get('retry-after'))).toBeGreaterThanOrEqual(59);
    expect(denied.headers.get('cache-control')).toBe('no-store');
    expect(await denied.json()).toMatchObject({ code: 'rate_limited', status: 429, scope: 'ip', policy: `early-${revision}` });
    expect(before).toBeGreaterThan(0);
    expect(seen.bodies).toBe(before);
    expect((await fetch(`${url}/nowhere`)).status).toBe(429);
    expect((await fetch(`${url}/health`)).status).toBe(404);
  });

  it('answers at once to a body that is still on its way', async () => {
    await setEarly(0);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const sending = httpRequest(`${url}/count`, { method: 'POST', headers: { 'content-type': 'application/json', 'content-length': '1000' } }, (answer) => {
        resolve(answer.statusCode);
        sending.destroy();
      });
      sending.on('error', reject);
      sending.write('{');
    });
    expect(status).toBe(429);
  });

  it('journals nothing for it, under no tenant', async () => {
    await fetch(`${url}/nowhere`);
    const tenants = async (): Promise<string[]> => (await readJournals(platform.client)).flatMap(({ rows }) => rows.map((row) => row.tenant));
    // Flushed each second; what came before this row would be in the same flush.
    await expect.poll(tenants, { timeout: 5000 }).toContain('plain');
    expect(await tenants()).not.toContain('platform');
  });

  it('denies with 503 where the class fails closed and the store is away, and says so', async () => {
    const { classes } = catalogueOf();
    await platform.publisher.publishClasses({ v: 1, revision: 2, classes: { ...classes, early: { cost: 1, meter: 'requests', failMode: 'closed', refundOn: [] } } }, 'closed');
    const impatient = await startEarlyApp(adapter, { ...platform.options, storeBudgetMs: 25 });
    try {
      await expect.poll(async () => (await fetch(`${impatient.url}/nowhere`)).headers.get('ratelimit-source'), { interval: 20 }).toBeNull();
      platform.pause();
      const denied = await fetch(`${impatient.url}/nowhere`);
      expect(denied.status).toBe(503);
      expect(denied.headers.get('ratelimit-source')).toBe('local');
      expect(denied.headers.get('retry-after')).toBe('1');
      expect(await denied.json()).toMatchObject({ code: 'limiter_unavailable' });
    } finally {
      platform.resume();
      await impatient.app.close();
    }
  });
});
