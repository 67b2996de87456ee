import { setTimeout as sleep } from 'node:timers/promises';
import type { UsageItem } from '@quotaplane/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ControlPlane } from './rig/control-plane';
import { call, flood, headerOf, type CallOptions } from './rig/http-call';
import { limitItems, wholeNumber } from './rig/limit-fields';
import { until } from './rig/patience';
import { control, echoUrl, expectPasses, floodEcho, isMachineCalm, otherEchoUrl } from './rig/story';

/** Oldest that a figure may be. */
const AGE_MAX_MS = 5000;
const DAY_MS = 86_400_000;

interface Priced extends CallOptions {
  readonly path: string;
  readonly units: number;
}
const MIX: readonly Priced[] = [
  { path: '/echo', units: 1 },
  { path: '/search?q=story', units: 10 },
  { path: '/bulk', units: 7, method: 'POST', body: { items: [1, 2, 3, 4, 5, 6, 7] } },
  { path: '/bulk', units: 0, method: 'POST', body: { items: [] } },
  { path: '/fail', units: 1 },
  { path: '/no-such-route', units: 1 },
  { path: '/echo', units: 1, method: 'POST', body: { hello: 'world' } },
];

describe('point 4: usage is what was admitted', () => {
  let billing: ControlPlane;
  beforeAll(async () => {
    billing = control.as(await control.tokenFor(['usage:read']));
  });

  const usedBy = async (tenant: string): Promise<{ used: bigint; degraded: bigint; item: UsageItem | undefined }> => {
    const item = await billing.usageOf(tenant);
    return { used: BigInt(item?.used ?? '0'), degraded: BigInt(item?.breakdown.degraded ?? '0'), item };
  };
  /** The figures when everything up to `at` is in them. */
  const usedOnce = (tenant: string, at: number): Promise<UsageItem> =>
    until(`usage of ${tenant} up to ${new Date(at).toISOString()}`, AGE_MAX_MS + 1000, async () => {
      const { item } = await usedBy(tenant);
      return item && Date.parse(item.asOf) >= at && item;
    }, 50);

  it('shows for each tenant exactly the units that a client of both echo processes was let through with, within 5 s', async () => {
    const tenants = ['acme', 'hobby', 'globex'];
    // Earlier units are folded first, or they would count as this test's.
    await call(`${echoUrl}/bulk`, { method: 'POST', key: 'demo-acme', body: { items: [1] } });
    await usedOnce('acme', Date.now());
    const before = await Promise.all(tenants.map(usedBy));
    const counted = new Map(tenants.map((tenant) => [tenant, { units: 0n, degraded: 0n, denials: 0 }]));
    await flood(450, 8, async (index) => {
      const tenant = tenants[index % tenants.length] ?? 'acme';
      const { path, units, ...options } = MIX[Math.floor(index / tenants.length) % MIX.length] ?? { path: '/echo', units: 1 };
      const answer = await call(`${index % 2 ? echoUrl : otherEchoUrl}${path}`, { ...options, key: `demo-${tenant}` });
      const own = counted.get(tenant);
      if (!own) return;
      if (answer.status === 429) own.denials += 1;
      // Decided without the store, on a busy machine: kept apart in the ledger too, and billed to globex alone.
      else if (headerOf(answer, 'RateLimit-Source') !== '') own.degraded += BigInt(units);
      else own.units += BigInt(units);
    });
    const endedAt = Date.now();
    await Promise.all(tenants.map((tenant) => usedOnce(tenant, endedAt)));
    for (const [index, tenant] of tenants.entries()) {
      const [was, is, own] = [before[index], await usedBy(tenant), counted.get(tenant)];
      const settled = tenant === 'globex' ? (own?.degraded ?? 0n) : 0n;
      expect([tenant, is.used - (was?.used ?? 0n), is.degraded - (was?.degraded ?? 0n)]).toEqual([tenant, (own?.units ?? 0n) + settled, own?.degraded]);
    }
    // A story in which nobody was denied would prove nothing of denials.
    expect(counted.get('hobby')?.denials).toBeGreaterThan(0);
    expect((await usedBy('acme')).item).toMatchObject({ tenant: 'acme', meter: 'requests', status: 'open', allowance: '10000000', overage: '0', billable: '0', period: { timezone: 'America/New_York' } });
    expect(Date.now() - Date.parse((await usedBy('acme')).item?.asOf ?? '')).toBeLessThanOrEqual(AGE_MAX_MS);
  });

  it('is never older than 5 s, also while nothing happens', async () => {
    for (let look = 0; look < 10; look += 1) {
      const { item } = await usedBy('globex');
      expect(Date.now() - Date.parse(item?.asOf ?? '')).toBeLessThanOrEqual(AGE_MAX_MS);
      await sleep(300);
    }
  });

  it('is all that a token with only usage:read may see', async () => {
    expect((await billing.try('GET', '/v1/usage?period=current')).status).toBe(200);
    for (const path of ['/v1/tenants', '/v1/tenants/acme', '/v1/tenants/acme/policy', '/v1/tiers', '/v1/overrides', '/v1/audit', '/v1/offenders', '/v1/tokens', '/v1/nodes', '/v1/settings']) {
      const { status, body } = await billing.try<{ code: string }>('GET', path);
      expect([path, status, body.code]).toEqual([path, 403, 'forbidden']);
    }
    expect((await billing.try('POST', '/v1/overrides', { body: {} })).status).toBe(403);
    const { body } = await control.as(await control.tokenFor(['usage:read'], { kind: 'tenant', tenant: 'acme' })).ask<{ items: UsageItem[] }>('GET', '/v1/usage?period=current');
    expect(new Set(body.items.map(({ tenant }) => tenant))).toEqual(new Set(['acme']));
  });

  it('selects the periods that start in a month', async () => {
    const now = new Date();
    const lastMonth = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 15)).toISOString().slice(0, 7);
    const { items } = await billing.get<{ items: UsageItem[] }>(`/v1/usage?period=${lastMonth}&limit=200`);
    const acme = items.find(({ tenant }) => tenant === 'acme');
    expect(acme?.period.id).toBe(`${lastMonth}-01`);
    // Closed a day after its end, which in its own zone comes some hours after midnight UTC.
    const hasEnded = now.getTime() >= Date.parse(acme?.period.end ?? '');
    expect(acme?.status).toMatch(hasEnded ? /^(ended|closed)$/ : /^open$/);
    expect(BigInt(acme?.used ?? '0')).toBeGreaterThan(0n);
  });

  it('denies a tenant whose monthly quota is spent with quota_exceeded, until the period\'s end', async () => {
    const tier = await control.tier('small-month', {
      limits: [{ name: 'per-day', algorithm: 'token-bucket', scope: 'tenant', limit: 1000, windowMs: DAY_MS, mode: 'enforce' }],
      quotas: [{ meter: 'requests', allowance: 25, overage: 'reject', alertAt: [] }],
    });
    const { slug, key } = await control.tenant('small-month', tier, { timezone: 'Pacific/Auckland', anchorDay: 31 });
    const isCalm = await isMachineCalm();
    const answers = await floodEcho([echoUrl, otherEchoUrl], key, 60, 20);
    expectPasses(answers, { least: 25, most: 25 }, isCalm);
    const denial = await until('a denial by the store', 5000, async () => {
      const answer = await call(`${echoUrl}/echo`, { key });
      return answer.status === 429 && headerOf(answer, 'RateLimit-Source') === '' && answer;
    });
    const usage = await usedOnce(slug, denial.receivedAt);
    expect(usage).toMatchObject({ used: '25', allowance: '25', overage: '0', billable: '0' });
    const secondsLeft = (Date.parse(usage.period.end) - denial.sentAt) / 1000;
    const retryAfter = wholeNumber(denial, 'Retry-After');
    expect(retryAfter - secondsLeft).toBeGreaterThan(-1);
    expect(retryAfter - secondsLeft).toBeLessThanOrEqual(1);
    expect(limitItems(denial, 'RateLimit').map(({ name }) => name)).toEqual(['month']);
    expect(headerOf(denial, 'Cache-Control')).toBe('no-store');
    expect(JSON.parse(denial.body)).toMatchObject({ code: 'quota_exceeded', policy: 'month', limit: 25, 'violated-policies': ['month'], retryAfter });
    // A cheaper look still passes: it needs nothing of the quota.
    expect((await call(`${echoUrl}/bulk`, { method: 'POST', key, body: { items: [] } })).status).toBe(200);
  });
});
