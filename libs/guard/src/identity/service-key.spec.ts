import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Call } from '../decide/call';
import { GuardRuntime } from '../module/guard-runtime';
import { startGuardedApp, type GuardedApp } from '../specs/guarded-app';
import { limitOf } from '../specs/policies';
import { startPlatform, type SpecPlatform } from '../specs/spec-platform';

describe('a key of kind service', () => {
  let platform: SpecPlatform;
  let app: GuardedApp;
  beforeAll(async () => {
    platform = await startPlatform();
    app = await startGuardedApp('fastify', platform.options);
  });
  afterAll(async () => {
    await app.close();
    await platform.stop();
  });

  // Fails when internal calls are counted with a customer's, or the kind is lost on the way.
  it('has the tier and the budget of the platform’s own calls, apart from every customer', async () => {
    const customer = await platform.tenantWith('customer', { limits: [limitOf({ limit: 1, burst: 2 })], quotas: [{ meter: 'requests', allowance: 1000, overage: 'bill' }] });
    const service = await platform.tenantWith(
      'platform',
      {
        limits: [limitOf({ name: 'internal', limit: 10_000, burst: 1000 }), limitOf({ name: 'early-address', scope: 'ip', endpointClass: 'early', limit: 0, burst: 0 })],
        quotas: [{ meter: 'requests', allowance: 5, overage: 'reject' }],
      },
      'service',
    );
    const calls: Call[] = [];
    const { decider } = app.app.get(GuardRuntime).node;
    const decide = decider.decide.bind(decider);
    vi.spyOn(decider, 'decide').mockImplementation((call) => (calls.push(call), decide(call)));

    const statusesOf = async (headers: Record<string, string>, count: number): Promise<number[]> => {
      const found: number[] = [];
      for (let call = 0; call < count; call += 1) found.push((await app.get('/echo', headers)).status);
      return found;
    };
    expect(await statusesOf(customer, 3)).toEqual([200, 200, 429]);
    const own = await app.get('/echo', service);
    expect(own.headers.get('ratelimit-policy')).toBe('"internal";q=10000;w=60;qp-burst=1000, "month";q=5;w=2592000');
    // A budget of its own, which ends where it ends and touches nobody else's.
    expect(await statusesOf(service, 5)).toEqual([200, 200, 200, 200, 429]);
    expect(calls.map(({ tenant, keyKind }) => `${tenant} ${keyKind}`)).toEqual([...Array.from({ length: 3 }, () => 'customer customer'), ...Array.from({ length: 6 }, () => 'platform service')]);
  });
});
