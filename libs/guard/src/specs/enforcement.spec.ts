import { PolicyPublisher } from '@quotaplane/policy';
import { connectLimitRedis, type LimitRedis } from '@quotaplane/rate-limit';
import { startRedis, type TestRedis } from '@quotaplane/testing';
import { parseList } from 'structured-headers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cost, InvalidCostError } from '../index';
import { hashSecret } from '../key-format';
import { ADAPTERS, startGuardedApp, type GuardedApp } from './guarded-app';
import { catalogueOf, limitOf, publish } from './policies';

describe.each(ADAPTERS)('a guarded service on %s', (adapter) => {
  let redis: TestRedis;
  let client: LimitRedis;
  let publisher: PolicyPublisher;
  let app: GuardedApp;
  const warnings: string[] = [];
  const log = (): void => undefined;
  const logger = { log, error: log, warn: (line: unknown) => void warnings.push(String(line)) };

  beforeAll(async () => {
    redis = await startRedis();
    client = connectLimitRedis(redis.url);
    await new Promise((resolve) => client.once('ready', resolve));
    publisher = new PolicyPublisher({ redis: client });
    await publisher.publishClasses(catalogueOf(), 'c');
    app = await startGuardedApp(adapter, { redisUrl: redis.url, service: 'probe', docsUrl: 'https://example.com/limits', storeBudgetMs: 1000 }, logger);
  });
  afterAll(async () => {
    await app.close();
    client.disconnect();
    await redis.stop();
  });

  const tenantWith = async (name: string, parts: Omit<Parameters<typeof publish>[1], 'tenant'>): Promise<Record<string, string>> => {
    await publish(publisher, { ...parts, tenant: name });
    await publisher.publishKey(hashSecret(`demo-${name}`), { tenant: name, keyId: `key-${name}`, userId: null, kind: 'customer' });
    return { 'X-Api-Key': `demo-${name}` };
  };

  it('passes the capacity and then denies with every field and the problem body', async () => {
    const key = await tenantWith('plain', { limits: [limitOf({ limit: 1, burst: 3 })] });
    const statuses: number[] = [];
    for (let call = 0; call < 3; call += 1) statuses.push((await app.get('/echo', key)).status);
    const denied = await app.get('/echo', key);
    const body: unknown = await denied.json();
    expect(statuses).toEqual([200, 200, 200]);
    expect(denied.status).toBe(429);
    expect(denied.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(denied.headers.get('cache-control')).toBe('no-store');
    expect(denied.headers.get('ratelimit-policy')).toBe('"per-minute";q=1;w=60;qp-burst=3');
    expect(denied.headers.get('ratelimit')).toMatch(/^"per-minute";r=0;t=60;pk=:[\w+/=]+:;qp-cost=1$/);
    expect(denied.headers.get('ratelimit-limit')).toBe('3');
    expect(denied.headers.get('ratelimit-remaining')).toBe('0');
    expect(Number(denied.headers.get('retry-after'))).toBeGreaterThanOrEqual(59);
    expect(denied.headers.get('ratelimit-source')).toBeNull();
    expect(body).toMatchObject({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded', title: 'Quota exceeded', status: 429, code: 'rate_limited',
      scope: 'tenant', policy: 'per-minute', limit: 1, 'violated-policies': ['per-minute'], retryAfter: Number(denied.headers.get('retry-after')),
      docs: 'https://example.com/limits#per-minute',
    });
  });

  // Mutation: retryAfterSeconds loses its division by 1000.
  it('C001 tells the wait in seconds, never in milliseconds', async () => {
    const key = await tenantWith('c001', { limits: [limitOf({ name: 'window', algorithm: 'fixed-window', limit: 2, alignment: 'first-hit' })] });
    await app.get('/echo', key);
    await app.get('/echo', key);
    const third = await app.get('/echo', key);
    expect(third.status).toBe(429);
    expect(Number(third.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThanOrEqual(59);
  });

  // Mutation: the fields are left out for a falsy value.
  it('C014 keeps the reset field at 0', async () => {
    const key = await tenantWith('c014', { limits: [limitOf()] });
    const answer = await app.get('/free', key);
    expect(answer.headers.get('ratelimit-reset')).toBe('0');
    expect(answer.headers.get('ratelimit-remaining')).toBe('20');
  });

  // Mutation: smallestShare compares units instead of shares, or takes the last limit.
  it('C015 shows the tightest limit and lists both', async () => {
    const key = await tenantWith('c015', { limits: [limitOf({ name: 'all', limit: 1000, burst: 1000 }), limitOf({ name: 'route', limit: 5, burst: 5, perRoute: true })] });
    const answer = await app.get('/items/1', key);
    expect(answer.headers.get('ratelimit-limit')).toBe('5');
    expect(answer.headers.get('ratelimit-remaining')).toBe('4');
    expect(parseList(answer.headers.get('ratelimit') ?? '').map(([name]) => name)).toEqual(['all', 'route']);
    // One template is one counter, however many paths it has; another template has its own.
    expect((await app.get('/items/2', key)).headers.get('ratelimit-remaining')).toBe('3');
    expect((await app.get('/echo', key)).headers.get('ratelimit-remaining')).toBe('4');
  });

  // Mutation: fields go to the framework's answer instead of the raw one, or are set after the handler.
  it('C016 carries the fields on every answer under load, whatever its status', async () => {
    const key = await tenantWith('c016', { limits: [limitOf({ limit: 1000, burst: 1000 })] });
    const paths = ['/echo', '/missing', '/fail', '/crash', '/stream', '/raw', '/nowhere', '/items/7'];
    const seen = new Map<number, number>();
    const one = async (index: number): Promise<void> => {
      const answer = await app.get(paths[index % paths.length] ?? '/', key);
      await answer.arrayBuffer();
      seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
      const bare = ['ratelimit', 'ratelimit-policy', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'].filter((name) => !answer.headers.has(name));
      if (bare.length > 0) throw new Error(`${answer.status} lacks ${bare.join()}`);
      if (answer.status === 429 && !answer.headers.has('retry-after')) throw new Error('429 without Retry-After');
    };
    let next = 0;
    await Promise.all(Array.from({ length: 50 }, async () => {
      while (next < 2000) await one(next++);
    }));
    expect([...seen.keys()].sort()).toEqual([200, 404, 429, 500]);
  });

  // Mutation: X-Forwarded-For is read from any peer.
  it('C018 counts by the socket where no proxy is declared', async () => {
    await publish(publisher, { tenant: 'anonymous', limits: [limitOf({ name: 'address', scope: 'ip', limit: 1, burst: 10 })] });
    const statuses = [];
    for (let call = 0; call < 50; call += 1) statuses.push((await app.get('/echo', { 'X-Forwarded-For': `198.51.100.${call}` })).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
  });

  // Mutation: a limit of 0 is taken for none, or its wait for a division by 0.
  it('C043 denies everything at limit 0, with a hint', async () => {
    const key = await tenantWith('c043', { limits: [limitOf({ limit: 0, burst: 0 })] });
    const answer = await app.get('/echo', key);
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get('retry-after'))).toBe(86_400);
    expect((await app.get('/free', key)).status).toBe(429);
  });

  // Mutation: costOf falls back to 1 for a falsy cost.
  it('C044 spends nothing for calls that cost 0', async () => {
    const key = await tenantWith('c044', { limits: [limitOf({ limit: 60, burst: 60 })] });
    for (let call = 0; call < 100; call += 1) {
      const answer = await app.get('/free', key);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('ratelimit-remaining')).toBe('60');
    }
  });

  // Mutation: the account is used as it was typed.
  it('C039 counts case variants and outer blanks of an address as one account', async () => {
    const key = await tenantWith('c039', { limits: [limitOf({ name: 'login-account', scope: 'subject:account', endpointClass: 'login', algorithm: 'fixed-window', limit: 5 })] });
    const login = (email: string): Promise<Response> =>
      app.get('/login', { ...key, 'content-type': 'application/json' }, { method: 'POST', body: JSON.stringify({ email, password: 'x' }) });
    const statuses = [];
    for (const email of ['Ann@Example.com', 'ann@example.com ', ' ANN@EXAMPLE.COM', 'ann@EXAMPLE.com', 'ann@example.com', 'aNN@example.com']) statuses.push((await login(email)).status);
    // C066: failed sign-ins count, the sixth is limited before the password is looked at.
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    expect((await login('bob@example.com')).status).toBe(401);
  });

  // Mutation: the class of a limit is not compared.
  it('C067 applies a limit of one class to that class only', async () => {
    const key = await tenantWith('c067', { limits: [limitOf({ name: 'all', limit: 200, burst: 200 }), limitOf({ name: 'login', limit: 10, burst: 10, endpointClass: 'login' })] });
    for (let call = 0; call < 20; call += 1) expect((await app.get('/echo', key)).status).toBe(200);
    expect((await app.get('/echo', key)).headers.get('ratelimit-policy')).toBe('"all";q=200;w=60');
  });

  it('charges the class cost and what @Cost says instead', async () => {
    const key = await tenantWith('costs', { limits: [limitOf({ limit: 60, burst: 60 })] });
    expect((await app.get('/search', key)).headers.get('ratelimit-remaining')).toBe('50');
    const bulk = await app.get('/bulk', { ...key, 'content-type': 'application/json' }, { method: 'POST', body: JSON.stringify({ items: [1, 2, 3] }) });
    expect(bulk.headers.get('ratelimit-remaining')).toBe('47');
  });

  // Fails when an invalid cost is thrown as an error, charged, or clamped.
  it('refuses a worked-out cost that is none with 422, the fields, one log line and no charge', async () => {
    const key = await tenantWith('no-cost', { limits: [limitOf({ limit: 60, burst: 60 })] });
    warnings.length = 0;
    for (const [pages, named] of [['abc', 'NaN'], ['1.5', '1.5'], ['-5', '-5'], ['9007199254740992', '9007199254740992']]) {
      const answer = await app.get(`/report?pages=${pages}`, key);
      expect(answer.status).toBe(422);
      expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
      expect(answer.headers.get('ratelimit-policy')).toBe('"per-minute";q=60;w=60');
      expect(answer.headers.get('ratelimit-remaining')).toBe('60');
      expect(answer.headers.get('retry-after')).toBeNull();
      expect(await answer.json()).toMatchObject({ code: 'invalid', status: 422, detail: expect.stringContaining(`the cost worked out from this request is ${named},`) });
    }
    expect(warnings).toEqual([expect.stringMatching(/^@Cost of endpoint class report: .* is NaN, .*; refused with 422, count=1$/)]);
    expect((await app.get('/report?pages=9007199254740991', key)).status).toBe(422);
    expect((await app.get('/report?pages=7', key)).headers.get('ratelimit-remaining')).toBe('53');
  });

  it('refuses a constant that is no cost when the service loads', () => {
    expect(() => Cost(1.5)).toThrow(InvalidCostError);
  });

  it('answers 422 without a wait where the cost is above the capacity', async () => {
    const key = await tenantWith('cost', { limits: [limitOf({ limit: 5, burst: 5 })] });
    const answer = await app.get('/search', key);
    expect(answer.status).toBe(422);
    expect(answer.headers.get('retry-after')).toBeNull();
    expect(await answer.json()).toMatchObject({ code: 'cost_exceeds_limit', policy: 'per-minute' });
  });

  it('denies with quota_exceeded once the month is spent', async () => {
    const key = await tenantWith('month', { limits: [limitOf()], quotas: [{ meter: 'requests', allowance: 2, overage: 'reject' }] });
    const first = await app.get('/echo', key);
    expect(first.headers.get('ratelimit-policy')).toBe('"per-minute";q=100;w=60;qp-burst=20, "month";q=2;w=2592000');
    await app.get('/echo', key);
    const third = await app.get('/echo', key);
    expect(third.status).toBe(429);
    expect(await third.json()).toMatchObject({ code: 'quota_exceeded', policy: 'month', 'violated-policies': ['month'] });
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(86_400);
  });

  it('drops to the slower lane past the allowance and says so', async () => {
    const quota = { meter: 'requests', allowance: 2, overage: 'throttle' as const, throttle: { limit: 1, windowMs: 60_000 } };
    const key = await tenantWith('lane', { limits: [limitOf()], quotas: [quota] });
    await app.get('/echo', key);
    await app.get('/echo', key);
    const slower = await app.get('/echo', key);
    expect(slower.status).toBe(200);
    expect(slower.headers.get('ratelimit-limit')).toBe('1');
    const denied = await app.get('/echo', key);
    expect(denied.status).toBe(429);
    expect(await denied.json()).toMatchObject({ code: 'rate_limited', policy: 'month-throttle' });
    expect(Number(denied.headers.get('retry-after'))).toBeLessThanOrEqual(60);
  });

  it('enforces a change on the very next call', async () => {
    const key = await tenantWith('raise', { limits: [limitOf({ limit: 1, burst: 1 })] });
    await app.get('/echo', key);
    expect((await app.get('/echo', key)).status).toBe(429);
    await publish(publisher, { tenant: 'raise', revision: 2, limits: [limitOf({ limit: 1, burst: 60 })] });
    expect((await app.get('/echo', key)).headers.get('ratelimit-remaining')).toBe('58');
  });

  it('lets an unknown tenant fall to the fallback policy under its own name', async () => {
    await publisher.publishFallback({ ...(await import('./policies')).policyOf({ tenant: 'anonymous', limits: [limitOf({ name: 'fallen', limit: 7, burst: 7 })] }) });
    await publisher.answerUnknown('ghost');
    await publisher.publishKey(hashSecret('demo-ghost'), { tenant: 'ghost', keyId: 'g', userId: null, kind: 'customer' });
    await expect.poll(async () => (await app.get('/echo', { 'X-Api-Key': 'demo-ghost' })).headers.get('ratelimit-policy'), { timeout: 3000 }).toBe('"fallen";q=7;w=60');
  });

  it('refuses unknown and malformed keys with 401, never as anonymous', async () => {
    const garbage = await app.get('/echo', { 'X-Api-Key': 'qpk_garbage' });
    expect(garbage.status).toBe(401);
    expect(await garbage.json()).toMatchObject({ code: 'unauthenticated' });
    await publisher.answerUnknownKey(hashSecret('demo-nobody'));
    expect((await app.get('/echo', { 'X-Api-Key': 'demo-nobody' })).status).toBe(401);
  });

  it('blocks a suspended tenant with 403', async () => {
    const key = await tenantWith('suspended', { status: 'suspended' });
    const answer = await app.get('/echo', key);
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ code: 'blocked' });
    expect(answer.headers.get('ratelimit-policy')).toBe('"per-minute";q=100;w=60;qp-burst=20');
  });

  it('leaves skipped handlers alone and exposes the fields to other origins', async () => {
    const key = await tenantWith('origin', {});
    expect((await app.get('/skipped', key)).headers.has('ratelimit')).toBe(false);
    expect((await app.get('/echo', { ...key, Origin: 'https://shop.example' })).headers.get('access-control-expose-headers')).toContain('RateLimit-Policy');
    expect((await app.get('/echo', key)).headers.has('access-control-expose-headers')).toBe(false);
  });
});
