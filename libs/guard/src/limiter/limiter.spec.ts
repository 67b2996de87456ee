import { readJournals } from '@quotaplane/usage';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createLimiter, QuotaplaneOptionsError, type Limiter } from '../limiter.entry';
import { limitOf } from '../specs/policies';
import { quietLogger, startPlatform, type SpecPlatform } from '../specs/spec-platform';

let platform: SpecPlatform;
let limiter: Limiter;
const closing: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  platform = await startPlatform();
  limiter = await createLimiter({ ...platform.options, service: 'worker', logger: quietLogger() });
});
afterAll(async () => {
  await limiter.close();
  await platform.stop();
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

describe('a limiter without a framework', () => {
  it('decides the calls of a worker loop, which waits as it was told and passes', async () => {
    await platform.tenantWith('loop', { limits: [limitOf({ limit: 10, windowMs: 1000, burst: 3 })] });
    let passed = 0;
    let waits = 0;
    while (passed < 8) {
      const { outcome, retryAfterMs } = await limiter.decide({ tenant: 'loop' });
      if (outcome === 'allowed') {
        passed += 1;
        continue;
      }
      waits += 1;
      expect(retryAfterMs).toBeLessThanOrEqual(100);
      await new Promise((resolve) => setTimeout(resolve, retryAfterMs));
    }
    // Three at once, then one after each wait as told (a timer may fire a millisecond early).
    expect(waits).toBeGreaterThanOrEqual(4);
    expect(waits).toBeLessThanOrEqual(10);
  });

  it('answers with the figures, the fields, the status and the problem', async () => {
    await platform.tenantWith('figures', { limits: [limitOf({ limit: 60, burst: 12 })] });
    const allowed = await limiter.decide({ tenant: 'figures', endpointClass: 'search' });
    expect(allowed).toMatchObject({ outcome: 'allowed', code: undefined, status: 200, problem: undefined, retryAfterMs: undefined, waitMs: 0, source: 'store', cost: 10 });
    expect(allowed.fields).toMatchObject({ 'RateLimit-Policy': '"per-minute";q=60;w=60;qp-burst=12', 'RateLimit-Remaining': '2' });
    expect(allowed.limits).toEqual([
      { kind: 'rate', name: 'per-minute', scope: 'tenant', limit: 60, windowMs: 60_000, capacity: 12, remaining: 2, resetAfterMs: 10_000, retryAfterMs: 0, isViolated: false },
    ]);
    const denied = await limiter.decide({ tenant: 'figures', cost: 5 });
    expect(denied).toMatchObject({ outcome: 'denied', code: 'rate_limited', status: 429, cost: 0, problem: { code: 'rate_limited', policy: 'per-minute', retryAfter: 3 } });
    expect(denied.fields['Retry-After']).toBe('3');
    expect(denied.retryAfterMs).toBeGreaterThan(2000);
    expect(() => denied.release()).not.toThrow();
    expect(await limiter.decide({ tenant: 'figures', cost: 13 })).toMatchObject({ code: 'cost_exceeds_limit', status: 422, retryAfterMs: undefined });
    expect(await limiter.decide({ tenant: 'figures', cost: 1.5 })).toMatchObject({ code: 'invalid', status: 422, cost: 0 });
  });

  it('knows callers by tenant, by API key, or by address alone', async () => {
    const byScope = (scope: 'key' | 'user' | 'ip'): ReturnType<typeof limitOf> => limitOf({ name: scope, scope, limit: 1, burst: 1 });
    await platform.tenantWith('callers', { limits: [byScope('key'), byScope('user')] });
    await platform.tenantWith('anonymous', { limits: [byScope('ip')] });
    const outcomes = async (...calls: Parameters<Limiter['decide']>[0][]): Promise<string[]> => {
      const found: string[] = [];
      for (const call of calls) found.push((await limiter.decide(call)).code ?? 'allowed');
      return found;
    };
    expect(await outcomes({ apiKey: 'demo-callers' }, { apiKey: 'demo-callers' }, { tenant: 'callers', keyId: 'other', userId: 'ann' }, { tenant: 'callers', userId: 'ann' }))
      .toEqual(['allowed', 'rate_limited', 'allowed', 'rate_limited']);
    expect(await outcomes({ address: '192.0.2.1' }, { address: '192.0.2.1' }, { address: '::ffff:192.0.2.1' }, { address: '192.0.2.2' }))
      .toEqual(['allowed', 'rate_limited', 'rate_limited', 'allowed']);
    expect(await limiter.decide({ apiKey: 'nonsense' })).toMatchObject({ outcome: 'denied', code: 'unauthenticated', status: 401, limits: [] });
  });

  it('counts by subject, method and route template as a handler does', async () => {
    await platform.tenantWith('narrow', {
      limits: [limitOf({ name: 'account', scope: 'subject:account', limit: 1, burst: 1 }), limitOf({ name: 'writes', methods: ['POST'], limit: 1, burst: 1 }), limitOf({ name: 'route', perRoute: true, limit: 1, burst: 1 })],
    });
    const violated = async (call: object): Promise<string[]> => (await limiter.decide({ tenant: 'narrow', ...call })).limits.filter((one) => one.isViolated).map((one) => one.name);
    expect(await violated({ subjects: { account: 'ann' }, route: '/a', method: 'POST' })).toEqual([]);
    expect(await violated({ subjects: { account: 'ann' }, route: '/b' })).toEqual(['account']);
    expect(await violated({ route: '/b', method: 'POST' })).toEqual(['writes']);
    expect(await violated({ route: '/a' })).toEqual(['route']);
  });

  it('goes by the fail mode it was told until the catalogue is known, and journals what it let pass when closed', async () => {
    const lines: string[] = [];
    const offline = await createLimiter({ redisUrl: 'redis://127.0.0.1:1', service: 'offline', logger: quietLogger(lines) });
    closing.push(() => offline.close());
    expect(await offline.decide({ tenant: 'acme', failMode: 'closed' })).toMatchObject({ outcome: 'denied', status: 503, code: 'limiter_unavailable', source: 'default' });
    expect(await offline.decide({ tenant: 'acme', failMode: 'open' })).toMatchObject({ outcome: 'allowed', source: 'open' });
    expect(lines.some((line) => line.startsWith('Redis 127.0.0.1:1 cannot be used'))).toBe(true);

    await platform.tenantWith('billed');
    const short = await createLimiter({ ...platform.options, service: 'short', logger: quietLogger() });
    await short.decide({ tenant: 'billed', cost: 7 });
    await short.close();
    const rows = (await readJournals(platform.client)).flatMap((batch) => batch.rows).filter((row) => row.tenant === 'billed');
    expect(rows).toMatchObject([{ admitted: 7n }]);
  });

  it('refuses options it cannot start with', async () => {
    await expect(createLimiter({ redisUrl: '', service: 'Worker' })).rejects.toThrow(QuotaplaneOptionsError);
  });
});
