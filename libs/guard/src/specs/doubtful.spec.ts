import { FaultProxy } from '@quotaplane/testing';
import { readJournals } from '@quotaplane/usage';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startGuardedApp, type GuardedApp } from './guarded-app';
import { limitOf } from './policies';
import { startPlatform, type SpecPlatform } from './spec-platform';

describe('units in doubt', () => {
  let platform: SpecPlatform;
  let proxy: FaultProxy;
  let app: GuardedApp;

  beforeEach(async () => {
    platform = await startPlatform();
    proxy = await FaultProxy.start(platform.redisUrl);
    app = await startGuardedApp('fastify', { ...platform.options, redisUrl: proxy.url, storeBudgetMs: 50, expectedNodes: 1 });
  });
  afterEach(async () => {
    proxy.set({ kind: 'none' });
    await app.close();
    await proxy.stop();
    await platform.stop();
  });

  /** Totals over all journals of the tenant. */
  const journaled = async (): Promise<Record<'admitted' | 'refunded' | 'degraded' | 'doubtful', number>> => {
    const rows = (await readJournals(platform.client)).flatMap((batch) => batch.rows);
    const sumOf = (field: 'admitted' | 'refunded' | 'degraded' | 'doubtful'): number => rows.reduce((sum, row) => sum + Number(row[field]), 0);
    return { admitted: sumOf('admitted'), refunded: sumOf('refunded'), degraded: sumOf('degraded'), doubtful: sumOf('doubtful') };
  };
  const counted = async (tenant: string): Promise<number> => {
    const [key = ''] = await platform.client.keys(`qp:{${tenant}}:q:*`);
    return Number((await platform.client.get(key)) ?? 0);
  };

  // Mutation: no onDoubt on the check (the reconciliation would then bill these units as recovered).
  it('are journaled where a call was answered without the store that has counted it', async () => {
    const key = await platform.tenantWith('acme', { limits: [limitOf()], quotas: [{ meter: 'requests', allowance: 100, overage: 'reject' }] });
    await expect.poll(async () => (await app.get('/echo', key)).headers.get('ratelimit-source'), { interval: 50 }).toBeNull();
    const before = await counted('acme');
    proxy.set({ kind: 'drop-replies' });
    const answer = await app.get('/search', key);
    expect([answer.status, answer.headers.get('ratelimit-source')]).toEqual([200, 'local']);
    await expect.poll(() => counted('acme')).toBe(before + 10);
    // Only the end of the connection says that no reply will come.
    proxy.resetConnections();
    proxy.set({ kind: 'none' });
    await expect.poll(journaled, { timeout: 10_000, interval: 100 }).toMatchObject({ degraded: 10, doubtful: 10 });
    const { admitted, refunded, doubtful } = await journaled();
    expect((await counted('acme')) - (admitted - refunded)).toBe(doubtful);
  });

  it('are none where no quota counts the call, nor for a call that costs nothing', async () => {
    const [plain, metered] = [await platform.tenantWith('plain', { limits: [limitOf()] }), await platform.tenantWith('metered', { quotas: [{ meter: 'requests', allowance: 100, overage: 'reject' }] })];
    for (const key of [plain, metered]) await expect.poll(async () => (await app.get('/free', key)).headers.get('ratelimit-source'), { interval: 50 }).toBeNull();
    proxy.set({ kind: 'drop-replies' });
    await Promise.all([app.get('/echo', plain), app.get('/free', metered)]);
    proxy.resetConnections();
    proxy.set({ kind: 'none' });
    await app.close();
    expect((await journaled()).doubtful).toBe(0);
    app = await startGuardedApp('fastify', platform.options);
  });

  // Mutation: the last journal is written before the store is closed.
  it('are in the last journal of a service that ends before the store has told', async () => {
    const key = await platform.tenantWith('ending', { limits: [], quotas: [{ meter: 'requests', allowance: 100, overage: 'reject' }] });
    await app.close();
    const lines: string[] = [];
    const note = (line: unknown): void => void lines.push(String(line));
    app = await startGuardedApp('fastify', { ...platform.options, redisUrl: proxy.url, storeBudgetMs: 50, expectedNodes: 1 }, { log: () => undefined, warn: note, error: note });
    await expect.poll(async () => (await app.get('/free', key)).headers.get('ratelimit-source'), { interval: 50 }).toBeNull();
    proxy.set({ kind: 'drop-replies' });
    expect((await app.get('/search', key)).headers.get('ratelimit-source')).toBe('local');
    await expect.poll(() => counted('ending')).toBe(10);
    const ended = app.close();
    await new Promise((resolve) => setTimeout(resolve, 300));
    // The store's connection ends, and with it the journal's: what it held is in the log, to the unit.
    proxy.set({ kind: 'reset' });
    await ended;
    expect(lines.join()).toContain('"degraded":10,"doubtful":10');
    app = await startGuardedApp('fastify', platform.options);
  });
});
