import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { LoggerService } from '@nestjs/common';
import { PolicyPublisher } from '@quotaplane/policy';
import { connectLimitRedis, type LimitRedis } from '@quotaplane/rate-limit';
import { freePort, startRedis, type TestRedis } from '@quotaplane/testing';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hashSecret } from '../key-format';
import { startGuardedApp, type GuardedApp } from './guarded-app';
import { catalogueOf, limitOf, publish } from './policies';

const KEY = { 'X-Api-Key': 'demo-acme' };
/** Back to exact decisions after the store's return, in ms (P07). */
const RECOVERY_MS = 2000;

/** Keeps the lines of degraded decisions; their counts are one of the three totals. */
class KeptLog implements LoggerService {
  readonly counts: number[] = [];
  readonly connection: string[] = [];
  readonly log = (): void => undefined;
  readonly error = (): void => undefined;
  readonly warn = (line: unknown): void => {
    const [, count] = /^decided without the store: count=(\d+) /.exec(String(line)) ?? [];
    if (count !== undefined) this.counts.push(Number(count));
    if (String(line).startsWith('Redis ')) this.connection.push(String(line));
  };
}

describe('a guarded service without its store', () => {
  let redis: TestRedis;
  let client: LimitRedis;
  let publisher: PolicyPublisher;
  let app: GuardedApp;
  let registry: Registry;
  let log: KeptLog;
  const sources: string[] = [];
  /** A busy machine may have missed the budget while the service warmed up; those count in the totals alone. */
  let sourcesBefore = 0;

  const connect = async (): Promise<void> => {
    client = connectLimitRedis(redis.url);
    await new Promise((resolve) => client.once('ready', resolve));
    publisher = new PolicyPublisher({ redis: client });
  };
  const publishAll = async (): Promise<void> => {
    await publisher.publishClasses(catalogueOf(), 'c');
    await publisher.publishKey(hashSecret('demo-acme'), { tenant: 'acme', keyId: 'k', userId: null, kind: 'customer' });
    await publish(publisher, { tenant: 'acme', limits: [limitOf({ limit: 1, burst: 30 })] });
  };
  const call = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const answer = await app.get(path, KEY, init);
    const source = answer.headers.get('ratelimit-source');
    if (source) sources.push(source);
    return answer;
  };
  const signIn = (): ReturnType<typeof call> => call('/login', { method: 'POST' });

  beforeEach(async () => {
    redis = await startRedis();
    await connect();
    await publishAll();
    registry = new Registry();
    log = new KeptLog();
    sources.length = 0;
    app = await startGuardedApp('fastify', { redisUrl: redis.url, service: 'probe', registry, expectedNodes: 1 }, log);
    await expect.poll(async () => (await call('/open')).headers.get('ratelimit-source'), { interval: 20 }).toBeNull();
    sourcesBefore = sources.length;
  });
  afterEach(async () => {
    redis.resume();
    await app.close();
    client.disconnect();
    await redis.stop();
  });

  const metricTotal = async (): Promise<number> => {
    const { values } = (await registry.getSingleMetric('quotaplane_decisions_total')?.get()) ?? { values: [] };
    return values.filter(({ labels }) => labels['source'] !== 'store').reduce((sum, { value }) => sum + value, 0);
  };

  describe.each(['frozen', 'killed'] as const)('that is %s', (fault) => {
    const takeAway = (): Promise<void> | void => (fault === 'frozen' ? redis.pause() : redis.kill());
    const bringBack = (): Promise<void> | void => (fault === 'frozen' ? redis.resume() : redis.restart());

    // Tried again at most twice: a decision that meets a pause of the machine itself says nothing about the guard.
    it('answers by each class\'s fail mode, within 50 ms, and says so in header, metric and log alike', { retry: 2 }, async () => {
      await takeAway();
      const took: number[] = [];
      const loopDelay = monitorEventLoopDelay({ resolution: 2 });
      loopDelay.enable();
      const timed = async (made: Promise<Response>): Promise<Response> => {
        const startedAt = performance.now();
        const answer = await made;
        took.push(performance.now() - startedAt);
        return answer;
      };
      const statuses: Record<string, number[]> = { echo: [], open: [], login: [] };
      for (let round = 0; round < 40; round += 1) {
        for (const [name, made] of [['echo', await timed(call('/echo'))], ['open', await timed(call('/open'))], ['login', await timed(signIn())]] as const) {
          statuses[name]?.push(made.status);
        }
      }
      // This node alone: its share is the whole capacity, counted in its own memory.
      expect(statuses['echo']?.filter((status) => status === 200)).toHaveLength(30);
      expect(statuses['echo']?.filter((status) => status === 429)).toHaveLength(10);
      expect(new Set(statuses['open'])).toEqual(new Set([200]));
      expect(new Set(statuses['login'])).toEqual(new Set([503]));
      const answer = await signIn();
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(answer.headers.get('ratelimit')).toContain(';r=0;');
      expect(await answer.json()).toMatchObject({ code: 'limiter_unavailable', status: 503, type: expect.stringContaining('temporary-reduced-capacity') });
      // What a busy machine held the whole process back is no wait of the guard's.
      const p99 = took.sort((a, b) => a - b)[Math.floor(took.length * 0.99) - 1];
      expect(p99).toBeLessThanOrEqual(50 + loopDelay.max / 1e6);
      loopDelay.disable();
      expect(new Set(sources.slice(sourcesBefore))).toEqual(new Set(['local', 'open']));
      await expect.poll(() => log.counts.reduce((sum, count) => sum + count, 0), { timeout: 3000 }).toBe(sources.length);
      expect(await metricTotal()).toBe(sources.length);
    });

    it('does not let calls wait once the outage is known', { retry: 2 }, async () => {
      await takeAway();
      // Longer than the change feed vouches for the key index: from then on every key would be looked up again.
      await new Promise((resolve) => setTimeout(resolve, 1800));
      for (let round = 0; round < 5; round += 1) await call('/open');
      const startedAt = performance.now();
      for (let round = 0; round < 40; round += 1) await call('/open');
      // Only a probe waits, ten times a second at most.
      expect((performance.now() - startedAt) / 40).toBeLessThan(20);
    });

    it('is exact again within 2 s of the store\'s return', async () => {
      await takeAway();
      for (let round = 0; round < 10; round += 1) await call('/open');
      await bringBack();
      const backAt = performance.now();
      if (fault === 'killed') {
        client.disconnect();
        await connect();
        await publishAll();
      }
      await expect.poll(async () => (await call('/open')).headers.get('ratelimit-source'), { timeout: RECOVERY_MS, interval: 50 }).toBeNull();
      expect(performance.now() - backAt).toBeLessThanOrEqual(RECOVERY_MS);
      await expect.poll(async () => (await signIn()).status, { interval: 20 }).toBe(401);
    });
  });

  it('enforces the last known policy while the store is there and the policy is not', async () => {
    await client.flushall();
    const answer = await call('/echo');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('ratelimit-source')).toBe('last-known');
    expect(await client.smembers('qp:wanted')).toContain('tenant:acme');
    expect((await signIn()).status).toBe(503);
    await publishAll();
    await expect.poll(async () => (await call('/echo')).headers.get('ratelimit-source'), { interval: 20 }).toBeNull();
  });

  it('starts without the store on its default limits and takes it up when it comes', async () => {
    const port = await freePort();
    const lone = await startGuardedApp('express', {
      redisUrl: `redis://127.0.0.1:${port}`, service: 'lone', expectedNodes: 2, defaultLimits: [{ name: 'start', limit: 10, windowMs: 60_000 }],
    }, log);
    expect(log.connection).toEqual([expect.stringContaining(`Redis 127.0.0.1:${port} cannot be used: ECONNREFUSED`)]);
    const statuses = [];
    for (let round = 0; round < 6; round += 1) statuses.push((await lone.get('/echo')).status);
    const denied = await lone.get('/echo');
    const signedIn = await lone.get('/login', {}, { method: 'POST' });
    // Two nodes are expected, so each has half.
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    expect(denied.headers.get('ratelimit-source')).toBe('default');
    expect(denied.headers.get('ratelimit-policy')).toBe('"start";q=10;w=60');
    expect(signedIn.status).toBe(503);
    // Who it is cannot be found out: a key is then neither refused nor taken for anonymous.
    expect((await lone.get('/login', KEY, { method: 'POST' })).status).toBe(503);
    expect((await lone.get('/open', KEY)).headers.get('ratelimit-source')).toBe('default');
    const late = await startRedis({ port });
    const lateClient = connectLimitRedis(late.url);
    await new Promise((resolve) => lateClient.once('ready', resolve));
    await publish(new PolicyPublisher({ redis: lateClient }), { tenant: 'anonymous' });
    await expect.poll(async () => (await lone.get('/echo')).headers.get('ratelimit-source'), { timeout: RECOVERY_MS, interval: 50 }).toBeNull();
    expect(log.connection.at(-1)).toContain(`Redis 127.0.0.1:${port} is back`);
    await lone.close();
    lateClient.disconnect();
    await late.stop();
  });
});
