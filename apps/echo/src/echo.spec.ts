import { connect } from 'node:net';
import { startRedis, type TestRedis } from '@quotaplane/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho, type RunningEcho } from './start-echo';

const RATELIMIT_FIELDS = ['ratelimit', 'ratelimit-policy', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'];
const sources = { limit: 'tier:anonymous@1', burst: 'tier:anonymous@1' };

/** What the platform publishes for callers without a key, written as it is in Redis: echo knows the guard alone. */
const policy = (): object => {
  const nowMs = Date.now();
  const limit = { algorithm: 'fixed-window', burst: null, windowMs: 900_000, mode: 'enforce', sources, alignment: 'first-hit' };
  return {
    v: 1, tenant: 'anonymous', revision: 1, status: 'active',
    segments: [{
      fromMs: nowMs - 1000, untilMs: nowMs + 86_400_000, tier: 'anonymous', tierVersion: 1, weight: 0, degraded: 'waive',
      limits: [
        { ...limit, name: 'address', scope: 'ip', limit: 1000 },
        { ...limit, name: 'login-account', scope: 'subject:account', limit: 5, endpointClass: 'login' },
      ],
      concurrency: { limit: null, source: 'default' }, quotas: [], period: { id: '2026-11-01', startMs: nowMs - 1000, endMs: nowMs + 86_400_000 }, part: 1,
    }],
  };
};

describe('echo', () => {
  let redis: TestRedis;
  let echo: RunningEcho;

  beforeAll(async () => {
    redis = await startRedis();
    const client = new Redis(redis.url);
    await client.set('qp:{anonymous}:policy', JSON.stringify(policy()));
    await client.set('qp:{anonymous}:head', '1.1');
    client.disconnect();
    echo = await startEcho({ redisUrl: redis.url, port: 0, storeBudgetMs: 1000 }, false);
  });
  afterAll(async () => {
    await echo.stop();
    await redis.stop();
  });

  const call = (path: string, init: RequestInit = {}): Promise<Response> => fetch(`http://127.0.0.1:${echo.port}${path}`, init);
  const post = (path: string, body: unknown): Promise<Response> =>
    call(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

  it.each([
    ['GET', '/echo', 200], ['GET', '/search?q=x', 200], ['GET', '/fail', 500], ['GET', '/stream?ms=5', 200], ['GET', '/stream?ms=x', 422],
    ['GET', '/nowhere', 404], ['DELETE', '/echo', 404], ['GET', '/', 404],
  ])('carries the fields on %s %s, which answers %i', async (method, path, status) => {
    const answer = await call(path, { method });
    expect(answer.status).toBe(status);
    for (const name of RATELIMIT_FIELDS) expect(answer.headers.has(name), name).toBe(true);
    expect(answer.headers.has('ratelimit-source')).toBe(false);
  });

  it('echoes, takes bulk by its items and refuses what is none', async () => {
    expect(await (await post('/echo', { a: 1 })).json()).toEqual({ method: 'POST', url: '/echo', body: { a: 1 } });
    const before = Number((await call('/echo')).headers.get('ratelimit-remaining'));
    const bulk = await post('/bulk', { items: [1, 2, 3] });
    expect(bulk.headers.get('ratelimit-remaining')).toBe(String(before - 3));
    const refused = await post('/bulk', {});
    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({ code: 'invalid', errors: [{ pointer: '/items' }] });
  });

  it('counts wrong passwords by account however it is typed', async () => {
    const statuses = [];
    for (const email of ['Ann@x.example', 'ann@X.example ', ' ann@x.example', 'ANN@x.example', 'ann@x.example', 'ann@x.example']) {
      statuses.push((await post('/login', { email, password: 'guess' })).status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    expect((await post('/login', { email: 'bob@x.example', password: 'echo-demo' })).status).toBe(200);
    expect((await post('/login', { email: 'bob@x.example' })).status).toBe(422);
  });

  it('refuses a body over its cap with a 413 problem', async () => {
    const answer = await post('/echo', { text: 'x'.repeat(300_000) });
    expect(answer.status).toBe(413);
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(await answer.json()).toMatchObject({ code: 'body_too_large' });
  });

  // Mutation: let write() return whatever was parsed, and serialising it exhausts the stack: 500.
  it('refuses a body nested too deeply to be written back', async () => {
    const send = (depth: number): Promise<Response> =>
      call('/echo', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '['.repeat(depth) + ']'.repeat(depth) });
    expect((await send(100_000)).status).toBe(422);
    expect((await send(33)).status).toBe(422);
    expect((await send(32)).status).toBe(200);
  });

  // Mutation: drop unroutedProblems and these come in the framework's own form.
  it.each([
    ['GET /%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 400],
    ['GARBAGE\r\n\r\n', 400],
    [`GET /echo HTTP/1.1\r\nHost: a\r\nX-Big: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ])('answers what reaches no route as a problem: %#', async (message, status) => {
    const socket = connect(echo.port, '127.0.0.1', () => socket.write(message));
    // Headers that are cut off end in a reset behind the answer.
    socket.on('error', () => undefined);
    let answer = '';
    socket.on('data', (bytes) => (answer += bytes.toString()));
    await new Promise((resolve) => socket.once('close', resolve));
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).toContain('application/problem+json');
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ status, code: 'malformed' });
  });

  it('leaves health and metrics unguarded', async () => {
    const health = await call('/health');
    expect(health.status).toBe(200);
    expect(health.headers.has('ratelimit')).toBe(false);
    expect(await (await call('/metrics')).text()).toContain('quotaplane_decisions_total');
  });
});
