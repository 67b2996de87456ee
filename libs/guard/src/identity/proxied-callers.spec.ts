import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADAPTERS, startGuardedApp, type GuardedApp } from '../specs/guarded-app';
import { limitOf } from '../specs/policies';
import { startPlatform, type SpecPlatform } from '../specs/spec-platform';

describe.each(ADAPTERS)('callers by address on %s', (adapter) => {
  let platform: SpecPlatform;
  const apps: GuardedApp[] = [];
  const start = async (options: { trustedProxies?: string[]; ipv6Prefix?: number }, warnings: string[] = []): Promise<GuardedApp> => {
    const silent = (): void => undefined;
    const app = await startGuardedApp(adapter, { ...platform.options, ...options }, { log: silent, error: silent, warn: (line: unknown) => void warnings.push(String(line)) });
    apps.push(app);
    return app;
  };
  const allowed = async (app: GuardedApp, addresses: readonly string[]): Promise<number> => {
    let count = 0;
    for (const address of addresses) if ((await app.get('/echo', { 'X-Forwarded-For': address })).status === 200) count += 1;
    return count;
  };
  beforeAll(async () => {
    platform = await startPlatform();
    await platform.tenantWith('anonymous', { limits: [limitOf({ name: 'address', scope: 'ip', limit: 1, burst: 10 })] });
  });
  afterAll(async () => {
    for (const app of apps) await app.close();
    await platform.stop();
  });

  // Mutation: the whole address names the counter.
  it('C017 gives a customer’s block of IPv6 one counter, however it rotates, by a prefix that can be chosen', async () => {
    const rotation = (block: string): string[] => Array.from({ length: 100 }, (_, index) => `2001:db8:${block}::${(index + 1).toString(16)}`);
    const byBlock = await start({ trustedProxies: ['127.0.0.0/8'] });
    expect(await allowed(byBlock, rotation('0:1'))).toBe(10);
    expect(await allowed(byBlock, rotation('0:2'))).toBe(10);
    const bySite = await start({ trustedProxies: ['127.0.0.0/8'], ipv6Prefix: 48 });
    expect(await allowed(bySite, [...rotation('9:1'), ...rotation('9:2')])).toBe(10);
  });

  // Mutation: a proxy's clients share its address, or it warns with every call.
  it('C019 keeps the clients of a declared proxy apart, and warns once of one that is not declared', async () => {
    const twelve = (address: string): string[] => Array.from({ length: 12 }, () => address);
    const declared = await start({ trustedProxies: ['127.0.0.0/8'] });
    expect(await allowed(declared, [...twelve('198.51.100.1'), ...twelve('198.51.100.2')])).toBe(20);
    const warnings: string[] = [];
    const undeclared = await start({}, warnings);
    expect(await allowed(undeclared, [...twelve('198.51.100.3'), ...twelve('198.51.100.4')])).toBe(10);
    expect(warnings.filter((line) => line.includes('X-Forwarded-For'))).toHaveLength(1);
  });
});
