import type { Quota } from '@quotaplane/contracts';
import { compile } from '@quotaplane/policy';
import { periodAt, readJournals } from '@quotaplane/usage';
import { parseList } from 'structured-headers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createQuotaClient, type QuotaWait } from '../client';
import { hashSecret } from '../key-format';
import { ADAPTERS, startGuardedApp, type GuardedApp } from './guarded-app';
import { catalogueOf, limitOf, publish } from './policies';
import { startPlatform, type SpecPlatform } from './spec-platform';

const quotaOf = (allowance: number, more: Partial<Quota> = {}): Quota => ({ meter: 'requests', allowance, overage: 'reject', alertAt: [], ...more });
const LANE = { limit: 2, windowMs: 2_000 };
/** `policyOf` puts the period's end 20 days away. */
const TO_PERIOD_END_S = 20 * 86_400;

/** Names and parameters of a list field. */
const listOf = (answer: Response, name: string): Record<string, Record<string, unknown>> =>
  Object.fromEntries(parseList(answer.headers.get(name) ?? '').map(([item, parameters]) => [String(item), Object.fromEntries(parameters)]));
const secondsOf = (answer: Response, name: string): number => Number(answer.headers.get(name));
/** Seconds count from the beginning of the answer's own, so that one more is no mistake. */
const isAbout = (seconds: unknown, expected: number): boolean => typeof seconds === 'number' && seconds <= expected + 1 && seconds > expected - 60;

describe.each(ADAPTERS)('quotas over HTTP on %s', (adapter) => {
  let platform: SpecPlatform;
  let app: GuardedApp;

  beforeAll(async () => {
    platform = await startPlatform();
    const { classes } = catalogueOf();
    const report = { cost: 1, meter: 'reports', failMode: 'local' as const, refundOn: [] };
    await platform.publisher.publishClasses({ v: 1, revision: 2, classes: { ...classes, report, search: { ...report, cost: 10, meter: 'searches' } } }, 'c2');
    app = await startGuardedApp(adapter, platform.options);
  });
  afterAll(async () => {
    await app?.close();
    await platform?.stop();
  });

  const tenantWith = (name: string, quotas: readonly Quota[]): Promise<{ 'X-Api-Key': string }> =>
    platform.tenantWith(`${name}-${adapter}`, { limits: [], quotas: quotas.map(({ alertAt: _alertAt, carry: _carry, ...quota }) => quota) });
  const statuses = async (count: number, path: string, key: Record<string, string>): Promise<number[]> => {
    const seen = [];
    for (let call = 0; call < count; call += 1) seen.push((await app.get(path, key)).status);
    return seen;
  };

  // Mutation: the reset of a quota from its first use (30 days), or the period of UTC.
  it('C055 resets a monthly quota of 5 at the next local month start', async () => {
    const tenant = `c055-${adapter}`;
    const period = periodAt({ timezone: 'Asia/Kathmandu', anchorDay: 1, nowMs: Date.now() });
    const content = { limits: [], concurrency: null, quotas: [quotaOf(5)], degraded: 'waive' as const };
    const policy = compile({
      tenant, status: 'active', revision: 1, tiers: [{ fromMs: null, slug: 'free', weight: 1, versions: [{ number: 1, effectiveMs: null, content }] }], overrides: [], periods: [period],
    });
    await platform.publisher.publishTenant({ policy, generation: 1, changeId: 'c055' });
    await platform.publisher.publishKey(hashSecret(`demo-${tenant}`), { tenant, keyId: 'k', userId: null, kind: 'customer' });
    const key = { 'X-Api-Key': `demo-${tenant}` };
    expect(await statuses(5, '/echo', key)).toEqual([200, 200, 200, 200, 200]);
    const sixth = await app.get('/echo', key);
    expect(sixth.status).toBe(429);
    expect(await sixth.json()).toMatchObject({ code: 'quota_exceeded', policy: 'month', limit: 5 });
    // Midnight in Kathmandu, 5 h 45 min before that of UTC.
    expect(new Date(period.endMs).toISOString()).toMatch(/T18:15:00\.000Z$/);
    const answeredAtMs = Date.parse(sixth.headers.get('date') ?? '');
    for (const field of ['ratelimit-reset', 'retry-after']) expect(Math.abs(answeredAtMs + secondsOf(sixth, field) * 1_000 - period.endMs)).toBeLessThanOrEqual(1_000);
  });

  // Mutation: remaining taken from what was stored at the first call, or allowance - used without the floor of 0.
  it('C050 leaves nothing of a quota lowered below what is used, and never less', async () => {
    const key = await tenantWith('c050', [quotaOf(5_000_000)]);
    expect(new Set(await statuses(34, '/echo', key))).toEqual(new Set([200]));
    expect((await app.get('/echo', key)).headers.get('ratelimit-remaining')).toBe('4999965');
    await publish(platform.publisher, { tenant: `c050-${adapter}`, revision: 2, limits: [], quotas: [{ meter: 'requests', allowance: 10, overage: 'reject' }] });
    const denied = await app.get('/echo', key);
    expect(denied.status).toBe(429);
    expect(denied.headers.get('ratelimit-remaining')).toBe('0');
    expect(listOf(denied, 'ratelimit')['month']).toMatchObject({ r: 0 });
    expect(await denied.json()).toMatchObject({ code: 'quota_exceeded', limit: 10, detail: expect.stringContaining('0 units available') as string });
    // Looking is free, and tells the same.
    const look = await app.get('/free', key);
    expect([look.status, look.headers.get('ratelimit-limit'), look.headers.get('ratelimit-remaining')]).toEqual([200, '10', '0']);
  });

  it('throttles past the allowance: the slower lane is named, the quota says until when, and a client that waits as told passes', async () => {
    const key = await tenantWith('lane', [quotaOf(2, { overage: 'throttle', throttle: LANE })]);
    const within = await app.get('/echo', key);
    expect(listOf(within, 'ratelimit-policy')).toMatchObject({ month: { q: 2 }, 'month-throttle': { q: 2, w: 2 } });
    expect(Object.keys(listOf(within, 'ratelimit'))).toEqual(['month']);
    await app.get('/echo', key);
    const slower = await app.get('/echo', key);
    expect(slower.status).toBe(200);
    expect(slower.headers.get('ratelimit-policy')).toBe(within.headers.get('ratelimit-policy'));
    const state = listOf(slower, 'ratelimit');
    expect(state['month']).toMatchObject({ r: 0 });
    expect(isAbout(state['month']?.['t'], TO_PERIOD_END_S)).toBe(true);
    expect(state['month-throttle']).toMatchObject({ r: 1, t: 1 });
    expect([slower.headers.get('ratelimit-limit'), slower.headers.get('ratelimit-remaining')]).toEqual(['2', '1']);
    await app.get('/echo', key);
    const denied = await app.get('/echo', key);
    expect(denied.status).toBe(429);
    expect(Object.keys(listOf(denied, 'ratelimit'))).toEqual(['month-throttle']);
    expect(secondsOf(denied, 'retry-after')).toBe(1);
    const problem = (await denied.json()) as { detail: string };
    expect(problem).toMatchObject({ code: 'rate_limited', policy: 'month-throttle', limit: 2, 'violated-policies': ['month-throttle'], retryAfter: 1 });
    const [, endsAfterS] = /^month-throttle: the allowance is used up, and a slower lane holds for (\d+) seconds; this request needs 1, 0 available; try again in 1 second$/.exec(problem.detail) ?? [];
    expect(isAbout(Number(endsAfterS), TO_PERIOD_END_S)).toBe(true);

    const waits: QuotaWait[] = [];
    const send = createQuotaClient({ onWait: (wait) => waits.push(wait) });
    for (let call = 0; call < 4; call += 1) expect((await send(`${app.url}/echo`, { headers: key })).status).toBe(200);
    expect(waits.length).toBeGreaterThan(1);
    expect(waits.every(({ reason, sent }) => reason === 'limited' && sent === 1)).toBe(true);
  });

  // Mutation: `ceiling` not passed on; canDeny without isViolated (the headers then name no quota).
  it.each(['bill', 'throttle'] as const)('ends %s at its ceiling, until the period\'s end', async (overage) => {
    const quota = { meter: 'requests', allowance: 2, overage, ceiling: 4, ...(overage === 'throttle' ? { throttle: { limit: 50, windowMs: 60_000 } } : {}) };
    const key = await platform.tenantWith(`ceiling-${overage}-${adapter}`, { limits: [limitOf()], quotas: [quota] });
    expect(await statuses(4, '/echo', key)).toEqual([200, 200, 200, 200]);
    const denied = await app.get('/echo', key);
    expect(denied.status).toBe(429);
    expect(isAbout(secondsOf(denied, 'retry-after'), TO_PERIOD_END_S)).toBe(true);
    expect(Object.keys(listOf(denied, 'ratelimit'))).toEqual(['month']);
    expect([denied.headers.get('ratelimit-limit'), denied.headers.get('ratelimit-remaining')]).toEqual(['2', '0']);
    expect(await denied.json()).toMatchObject({
      code: 'quota_exceeded', policy: 'month', 'violated-policies': ['month'],
      detail: expect.stringMatching(/^month: this request needs 1, which would pass the ceiling of 4 units; try again in \d+ seconds$/) as string,
    });
  });

  it('refuses for good what is more than the ceiling in one call', async () => {
    const key = await tenantWith('past-ceiling', [quotaOf(2, { meter: 'searches', overage: 'bill', ceiling: 9 })]);
    const refused = await app.get('/search', key);
    expect(refused.status).toBe(422);
    expect(refused.headers.has('retry-after')).toBe(false);
    expect(await refused.json()).toMatchObject({ code: 'cost_exceeds_limit', detail: 'month-searches: this request needs 10 units, the limit holds 9 at most; waiting cannot help' });
  });

  it('bills past the allowance: every call passes, and the quota says that nothing is left', async () => {
    const key = await tenantWith('bill', [quotaOf(2, { overage: 'bill' })]);
    expect(await statuses(5, '/echo', key)).toEqual([200, 200, 200, 200, 200]);
    const past = await app.get('/echo', key);
    expect(past.status).toBe(200);
    expect(listOf(past, 'ratelimit')['month']).toMatchObject({ r: 0, 'qp-cost': 1 });
  });

  // Mutation: one counter for all meters of a tenant; a counter for each key.
  it('counts each meter apart, in one pool over all keys of the tenant', async () => {
    const tenant = `meters-${adapter}`;
    const first = await tenantWith('meters', [quotaOf(3), quotaOf(25, { meter: 'searches' }), quotaOf(100, { meter: 'reports', overage: 'bill' })]);
    await platform.publisher.publishKey(hashSecret(`demo-${tenant}-2`), { tenant, keyId: 'other', userId: 'u2', kind: 'customer' });
    const second = { 'X-Api-Key': `demo-${tenant}-2` };
    expect([await statuses(2, '/echo', first), await statuses(2, '/echo', second)]).toEqual([[200, 200], [200, 429]]);
    expect([await statuses(1, '/search', second), await statuses(2, '/search', first)]).toEqual([[200], [200, 429]]);
    const search = await app.get('/search', second);
    expect(await search.json()).toMatchObject({ code: 'quota_exceeded', policy: 'month-searches', limit: 25, detail: expect.stringContaining('5 units available, this request needs 10') as string });
    const report = await app.get('/report?pages=7', second);
    expect([report.status, Object.keys(listOf(report, 'ratelimit')), report.headers.get('ratelimit-policy')]).toEqual([200, ['month-reports'], '"month-reports";q=100;w=2592000']);
    expect((await app.get('/echo', first)).status).toBe(429);
    const keys = await platform.client.keys(`qp:{${tenant}}:q:*`);
    const counts = await Promise.all(keys.sort().map(async (name) => [name.split(':')[3], await platform.client.get(name)]));
    expect(counts).toEqual([['reports', '7'], ['requests', '3'], ['searches', '20']]);
  });

  it('spends nothing of a quota when a rate of the same call denies, nor of the rate when the quota does', async () => {
    const key = await platform.tenantWith(`all-or-none-${adapter}`, {
      limits: [limitOf({ algorithm: 'fixed-window', burst: null, limit: 3, windowMs: 86_400_000 })], quotas: [{ meter: 'searches', allowance: 10, overage: 'reject' }],
    });
    expect((await app.get('/search', key)).status).toBe(422);
    expect(await statuses(4, '/echo', key)).toEqual([200, 200, 200, 429]);
    expect(await platform.client.keys(`qp:{all-or-none-${adapter}}:q:*`)).toEqual([]);
  });

  // Mutation: a number of a quota through parseInt of 32 bits, or a journal that adds in floating point past 2^53-1.
  it('P14 is exact to 2^53-1 in headers, bodies and journals', async () => {
    const MAX = Number.MAX_SAFE_INTEGER;
    const EDGES = [1, 2, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 999_999_999_999_999, 10 ** 15, MAX - 1, MAX];
    const pairs = EDGES.flatMap((allowance) => EDGES.filter((cost) => cost <= allowance).slice(-3).map((cost) => [allowance, cost] as const));
    const admitted = new Map<string, bigint>();
    for (const [index, [allowance, cost]] of pairs.entries()) {
      const key = await tenantWith(`edge-${index}`, [quotaOf(allowance, { meter: 'reports' })]);
      let left = BigInt(allowance);
      for (const units of [cost, allowance - cost, cost, 1]) {
        const answer = await app.get(`/report?pages=${units}`, key);
        const passes = BigInt(units) <= left;
        expect([allowance, cost, units, answer.status]).toEqual([allowance, cost, units, passes ? 200 : 429]);
        if (passes) left -= BigInt(units);
        expect([answer.headers.get('ratelimit-limit'), answer.headers.get('ratelimit-remaining')]).toEqual([String(allowance), String(left)]);
        // A structured field holds 15 digits.
        expect(listOf(answer, 'ratelimit')['month-reports']).toMatchObject({ r: Math.min(Number(left), 999_999_999_999_999), 'qp-cost': Math.min(units, 999_999_999_999_999) });
        if (!passes) expect(await answer.json()).toMatchObject({ limit: allowance, detail: expect.stringContaining(`this request needs ${units}`) as string });
      }
      admitted.set(`edge-${index}-${adapter}`, BigInt(allowance) - left);
    }
    await app.close();
    const rows = (await readJournals(platform.client)).flatMap((batch) => batch.rows);
    const journaled = new Map([...admitted.keys()].map((tenant) => [tenant, rows.filter((row) => row.tenant === tenant).reduce((sum, row) => sum + row.admitted, 0n)]));
    expect(journaled).toEqual(admitted);
    app = await startGuardedApp(adapter, platform.options);
  });
});
