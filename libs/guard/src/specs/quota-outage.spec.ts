import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADAPTERS, startGuardedApp, type GuardedApp } from './guarded-app';
import { startPlatform, type SpecPlatform } from './spec-platform';

describe.each(ADAPTERS)('quotas on %s while the store is away', (adapter) => {
  let platform: SpecPlatform;
  let app: GuardedApp;

  beforeAll(async () => {
    platform = await startPlatform();
    app = await startGuardedApp(adapter, { ...platform.options, storeBudgetMs: 50, expectedNodes: 1 });
  });
  afterAll(async () => {
    platform.resume();
    await app.close();
    await platform.stop();
  });

  const warm = async (key: Record<string, string>): Promise<void> => {
    await expect.poll(async () => (await app.get('/free', key)).headers.get('ratelimit-source'), { interval: 20, timeout: 5_000 }).toBeNull();
  };

  // Mutation: quotas filtered out of what a node judges alone, as before.
  it('end where the store\'s last word and this node\'s own admissions end them, and each answer says whose word it is', async () => {
    const [reject, bill, throttle] = [
      await platform.tenantWith('reject', { limits: [], quotas: [{ meter: 'requests', allowance: 5, overage: 'reject' }] }),
      await platform.tenantWith('bill', { limits: [], quotas: [{ meter: 'requests', allowance: 1, overage: 'bill' }] }),
      await platform.tenantWith('throttle', { limits: [], quotas: [{ meter: 'requests', allowance: 2, overage: 'throttle', throttle: { limit: 2, windowMs: 3_600_000 } }] }),
    ];
    for (const key of [reject, bill, throttle]) {
      await warm(key);
      expect((await app.get('/echo', key)).headers.get('ratelimit-source')).toBeNull();
    }
    platform.pause();
    const callsOf = async (key: Record<string, string>): Promise<Response[]> => {
      const answers = [];
      for (let call = 0; call < 6; call += 1) answers.push(await app.get('/echo', key));
      return answers;
    };
    const [rejected, billed, throttled] = [await callsOf(reject), await callsOf(bill), await callsOf(throttle)];
    expect([...rejected, ...billed, ...throttled].map(({ headers }) => headers.get('ratelimit-source'))).toEqual(Array(18).fill('local'));
    expect(rejected.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429, 429]);
    expect(rejected.map(({ headers }) => headers.get('ratelimit-remaining'))).toEqual(['3', '2', '1', '0', '0', '0']);
    const denied = rejected.at(-1);
    expect(await denied?.json()).toMatchObject({ code: 'quota_exceeded', policy: 'month', limit: 5 });
    expect(Number(denied?.headers.get('retry-after')) / 86_400).toBeCloseTo(20, 1);
    expect(billed.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect(throttled.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429, 429]);
    expect(await throttled.at(-1)?.json()).toMatchObject({ code: 'rate_limited', policy: 'month-throttle' });
    platform.resume();
    await expect.poll(async () => (await app.get('/free', reject)).headers.get('ratelimit-source'), { timeout: 5_000 }).toBeNull();
  });
});
