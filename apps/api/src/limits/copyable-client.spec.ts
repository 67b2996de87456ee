import 'reflect-metadata';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Controller, Get, HttpException, Module, Post, UseGuards, type DynamicModule, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { hashSecret, QuotaGuard, QuotaplaneModule } from '@quotaplane/guard';
import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OutboxRig } from '../outbox/outbox-rig';
import { DENIALS, FIELDS } from './explanations';
import { limitsPage } from './page/limits-page';

type QuotaFetch = (url: string, init?: RequestInit, options?: { maxRetries?: number; maxWaitMs?: number }) => Promise<Response>;

/** What a reader of the page would copy. */
const copied = (): string => {
  const page = limitsPage({ v: 1, tiers: [], classes: [], algorithms: [], period: [], fields: [...FIELDS], denials: [...DENIALS], backOff: [] });
  const [, escaped] = /aria-label="A client to copy"[^>]*><code>([^]*?)<\/code>/.exec(page) ?? [];
  return (escaped ?? '').replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
};

@Controller()
@UseGuards(QuotaGuard)
class ThingsController {
  @Get('things')
  list(): object {
    return {};
  }

  @Post('things')
  add(): object {
    return {};
  }

  @Get('refused')
  refused(): never {
    throw new HttpException({}, 422);
  }
}

@Module({})
class ThingsModule {
  static of(quotaplane: DynamicModule): DynamicModule {
    return { module: ThingsModule, imports: [quotaplane], controllers: [ThingsController] };
  }
}

let postgres: TestPostgres;
let redisServer: TestRedis;
let rig: OutboxRig;
let service: INestApplication;
let url: string;
let folder: string;
let quotaFetch: QuotaFetch;

beforeAll(async () => {
  [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
  rig = await OutboxRig.over({ postgres, redisServer });
  const tier = await rig.tier('spec', { limits: [{ name: 'per-second', algorithm: 'token-bucket', scope: 'tenant', limit: 3, windowMs: 1000, burst: 2, mode: 'enforce' }], quotas: [] });
  for (const slug of ['reader', 'writer', 'hurried']) {
    const tenantId = await rig.tenant(slug, tier);
    await rig.prisma.apiKey.create({ data: { tenantId, name: 'spec', secretHash: hashSecret(`demo-${slug}`), hint: 'demo', createdBy: 'spec' } });
    await rig.tenants.publish([slug]);
    await rig.keys.publish([hashSecret(`demo-${slug}`)]);
  }
  await rig.catalogue.publishClasses();
  service = await NestFactory.create(ThingsModule.of(QuotaplaneModule.forRoot({ redisUrl: redisServer.url, service: 'things', storeBudgetMs: 1000 })), new FastifyAdapter(), { logger: false });
  await service.listen(0, '127.0.0.1');
  url = (await service.getUrl()).replace('[::1]', '127.0.0.1');
  folder = mkdtempSync(join(tmpdir(), 'copied-client-'));
  writeFileSync(join(folder, 'client.mjs'), copied());
  ({ quotaFetch } = (await import(/* @vite-ignore */ pathToFileURL(join(folder, 'client.mjs')).href)) as { quotaFetch: QuotaFetch });
});
afterAll(async () => {
  await service?.close();
  await rig?.stop();
  await Promise.all([postgres?.stop(), redisServer?.stop()]);
  if (folder) rmSync(folder, { recursive: true, force: true });
});

describe('the client that /limits shows', () => {
  it('is 20 to 30 lines without a dependency', () => {
    const lines = copied().trim().split('\n');
    expect(lines.length).toBeGreaterThanOrEqual(20);
    expect(lines.length).toBeLessThanOrEqual(30);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(120);
    expect(copied()).not.toMatch(/import|require/);
  });

  // Fails when the wait is shortened, or when the answer is returned without one.
  it('P03 passes every time against a guarded service, alone', async () => {
    const sent: number[] = [];
    for (let call = 0; call < 8; call += 1) {
      const response = await quotaFetch(`${url}/things`, { headers: { 'X-Api-Key': 'demo-reader' } });
      sent.push(response.status);
    }
    expect(sent).toEqual(Array(8).fill(200));
    expect((await fetch(`${url}/things`, { headers: { 'X-Api-Key': 'demo-reader' } })).headers.get('ratelimit-policy')).toContain('"per-second"');
  });

  it('sends a POST again only under an Idempotency-Key', async () => {
    const post = (headers: Record<string, string>): Promise<Response> => quotaFetch(`${url}/things`, { method: 'POST', headers: { 'X-Api-Key': 'demo-writer', ...headers } });
    const statuses = [];
    for (let call = 0; call < 3; call += 1) statuses.push((await post({})).status);
    expect(statuses).toEqual([201, 201, 429]);
    expect((await post({ 'Idempotency-Key': 'one' })).status).toBe(201);
  });

  it('gives up where the wait is longer than it may be, and takes 422 for an answer', async () => {
    const get = (path: string): Promise<Response> => quotaFetch(`${url}${path}`, { headers: { 'X-Api-Key': 'demo-hurried' } }, { maxWaitMs: 500 });
    expect((await get('/refused')).status).toBe(422);
    await get('/things');
    expect((await get('/things')).status).toBe(429);
  });
});
