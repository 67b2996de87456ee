import { classCatalogueSchema, policySchema, publicLimitsSchema, redisKeys, type CompiledLimit, type PublicLimits, type PublicTier, type Segment } from '@quotaplane/contracts';
import { segmentAt } from '@quotaplane/policy';
import { startPostgres, startRedis, TestClock, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startSpecApp, type SpecAnswer, type SpecApp } from '../http/spec-app';
import { OutboxRig } from '../outbox/outbox-rig';

const MINUTE_MS = 60_000;
const login = { name: 'login-account', algorithm: 'fixed-window', scope: 'subject:account', limit: 5, windowMs: 15 * MINUTE_MS, endpointClass: 'login', mode: 'enforce' } as const;
const base = { scope: 'tenant', windowMs: MINUTE_MS, mode: 'enforce' } as const;
const rate = (limit: number, burst: number) =>
  ({ name: 'per-minute', algorithm: 'token-bucket', scope: 'tenant', limit, windowMs: MINUTE_MS, burst, mode: 'enforce' }) as const;

let postgres: TestPostgres;
let redisServer: TestRedis;
let rig: OutboxRig;
let api: SpecApp;
const clock = new TestClock(Date.now());

beforeAll(async () => {
  [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
  rig = await OutboxRig.over({ postgres, redisServer });
  api = await startSpecApp({ databaseUrl: postgres.url, redisUrl: redisServer.url }, { clock });
  const free = await rig.tier('free', { limits: [rate(100, 20), { ...rate(7, 7), name: 'proposed', mode: 'shadow' }], concurrency: 10 });
  const pro = await rig.tier('pro', {
    limits: [rate(1000, 100), login],
    quotas: [{ meter: 'requests', allowance: 500, overage: 'throttle', throttle: { limit: 9, windowMs: MINUTE_MS }, ceiling: 900, carry: { cap: 70 }, alertAt: [] }],
  });
  const anonymous = await rig.tier('anonymous', { limits: [{ ...rate(600, 600), name: 'global', scope: 'global' }, { ...rate(30, 10), name: 'per-address', scope: 'ip' }], quotas: [] });
  const batch = await rig.tier('batch', { quotas: [], limits: [
    { ...base, name: 'queue', algorithm: 'leaky-bucket', limit: 50, maxQueue: 200, maxWaitMs: 5000 },
    { ...base, name: 'log', algorithm: 'sliding-log', limit: 40, methods: ['POST'], perRoute: true, penalty: { strikes: 3, withinMs: MINUTE_MS, banMs: MINUTE_MS, factor: 2, maxBanMs: 3_600_000, forgiveAfterMs: 3_600_000 } },
    { ...base, name: 'counter', algorithm: 'sliding-counter', limit: 30 },
  ] });
  const internal = await rig.tier('internal');
  const archived = await rig.tier('archived');
  await rig.prisma.tier.update({ where: { id: archived }, data: { archivedAt: new Date() } });
  await rig.prisma.tier.create({ data: { slug: 'unpublished', name: 'Unpublished' } });
  for (const [slug, tier] of [['hobby', free], ['acme', pro], ['crunch', batch], ['anonymous', anonymous], ['platform', internal]] as const) await rig.tenant(slug, tier);
  await rig.prisma.endpointClass.createMany({ data: [
    { slug: 'search', cost: 10, meter: 'requests', failMode: 'local', refundOn: ['5xx'], retry: { cost: 0, windowMs: MINUTE_MS, max: 3 }, description: 'secret words of ops' },
    { slug: 'login', cost: 1, meter: 'requests', failMode: 'closed', refundOn: [], description: '' },
  ] });
  await rig.catalogue.publishClasses();
  await rig.tenants.publish(['hobby', 'acme', 'crunch', 'anonymous', 'platform']);
});
afterAll(async () => {
  await api?.stop();
  await rig?.stop();
  await Promise.all([postgres?.stop(), redisServer?.stop()]);
});
// One answer is kept for a second.
beforeEach(() => clock.advance(2000));

const get = (path: string, headers: Record<string, string> = {}): Promise<SpecAnswer> => api.call('GET', path, { token: null, headers });
const read = async (): Promise<PublicLimits> => publicLimitsSchema.parse((await get('/limits.json')).body);
const tierOf = async (slug: string): Promise<PublicTier> => {
  const tier = (await read()).tiers.find((candidate) => candidate.slug === slug);
  if (!tier) throw new Error(`no tier ${slug} in /limits.json`);
  return tier;
};
const segmentOf = async (tenant: string): Promise<Segment> => {
  const policy = policySchema.parse(JSON.parse((await rig.redis.get(redisKeys.policy(tenant))) ?? 'null'));
  const segment = segmentAt(policy, clock.now());
  if (!segment) throw new Error(`${tenant} has no segment now`);
  return segment;
};
const enforced = (segment: Segment): Omit<CompiledLimit, 'mode' | 'sources'>[] =>
  segment.limits.filter(({ mode }) => mode === 'enforce').map(({ mode: _mode, sources: _sources, ...told }) => told);

describe('/limits.json', () => {
  // Fails when publicLimitFrom leaves a field out or takes the numbers from the tier's rows.
  it.each([['free', 'hobby'], ['pro', 'acme'], ['batch', 'crunch'], ['anonymous', 'anonymous']])('says of %s what the segments in Redis of its tenant %s say', async (slug, tenant) => {
    const [tier, segment] = [await tierOf(slug), await segmentOf(tenant)];
    expect(tier.limits.map(({ window: _window, worstCaseUnits: _worst, ...told }) => told)).toEqual(enforced(segment));
    expect(tier.concurrency).toBe(segment.concurrency.limit);
    expect(tier.tierVersion).toBe(segment.tierVersion);
    expect(tier.quotas.map(({ meter, allowance, overage, throttle, ceiling }) => ({ meter, allowance, overage, ...(throttle ? { throttle: { limit: throttle.limit, windowMs: throttle.windowMs } } : {}), ...(ceiling === undefined ? {} : { ceiling }) })))
      .toEqual(segment.quotas.map(({ sources: _sources, ...told }) => told));
  });

  it('names windows in words and the worst case in any of them', async () => {
    const { limits, quotas } = await tierOf('pro');
    expect(limits.map(({ window, worstCaseUnits }) => [window, worstCaseUnits])).toEqual([['1 minute', 1100], ['15 minutes', 10]]);
    expect(quotas[0]).toMatchObject({ name: 'month', ceiling: 900, carry: 70, throttle: { name: 'month-throttle', window: '1 minute', worstCaseUnits: 18 } });
  });

  it('tells how long a queue holds a call, what an algorithm promises at worst and what a penalty does', async () => {
    const [queue, log, counter] = (await tierOf('batch')).limits;
    expect(queue).toMatchObject({ maxQueue: 200, maxWaitMs: 5000, worstCaseUnits: 250 });
    expect(log).toMatchObject({ worstCaseUnits: 40, penalty: { strikes: 3, banMs: MINUTE_MS } });
    expect(counter).toMatchObject({ worstCaseUnits: 59 });
    expect((await read()).algorithms.map(({ algorithm }) => algorithm)).toEqual(['token-bucket', 'leaky-bucket', 'fixed-window', 'sliding-log', 'sliding-counter']);
  });

  it('shows no shadow limit, for it denies nobody', async () => {
    expect((await tierOf('free')).limits.map(({ name }) => name)).toEqual(['per-minute']);
  });

  it('shows the tiers that consumers can be on: not archived, not unpublished, not the platform\'s own', async () => {
    expect((await read()).tiers.map(({ slug, audience }) => [slug, audience])).toEqual([['anonymous', 'anonymous'], ['batch', 'accounts'], ['free', 'accounts'], ['pro', 'accounts']]);
  });

  it('says of the classes what the document in Redis says, but not what happens while the limiter is away', async () => {
    const { classes } = classCatalogueSchema.parse(JSON.parse((await rig.redis.get(redisKeys.classes)) ?? 'null'));
    const told = (await read()).classes;
    expect(told).toEqual([
      { slug: 'login', cost: classes['login']?.cost, meter: 'requests', refundOn: [] },
      { slug: 'search', cost: classes['search']?.cost, meter: 'requests', refundOn: ['5xx'], retry: { cost: 0, windowMs: MINUTE_MS, window: '1 minute', max: 3 } },
    ]);
  });

  it('tells no tenant, no draft author, no fail mode and no description', async () => {
    const { text } = await get('/limits.json');
    expect(['hobby', 'acme', 'secret words', 'failMode', 'sources', 'spec'].filter((word) => text.includes(word))).toEqual([]);
  });

  // Fails when a tier's draft is read, or when an edit of its rows is.
  it('does not show an edit that was not published, and shows it when it was', async () => {
    const draft = await api.call('GET', '/v1/tiers/free/draft');
    const content = { limits: [rate(111, 22)], concurrency: 10, quotas: [{ meter: 'requests', allowance: 1_000_000, overage: 'reject' }] };
    expect((await api.call('PUT', '/v1/tiers/free/draft', { ifMatch: draft.body.version ?? 0, body: content })).status).toBe(200);
    clock.advance(2000);
    expect((await tierOf('free')).limits[0]).toMatchObject({ limit: 100, burst: 20 });
    expect((await api.call('POST', '/v1/tiers/free/publish', { body: {} })).status).toBe(201);
    await rig.relay().drain();
    clock.advance(2000);
    const tier = await tierOf('free');
    expect(tier.limits[0]).toMatchObject({ limit: 111, burst: 22, worstCaseUnits: 133 });
    expect(tier.limits.map(({ window: _window, worstCaseUnits: _worst, ...told }) => told)).toEqual(enforced(await segmentOf('hobby')));
  });

  it('shows a scheduled version from its instant on, and lets no copy outlive it', async () => {
    const draft = await api.call('GET', '/v1/tiers/pro/draft');
    await api.call('PUT', '/v1/tiers/pro/draft', { ifMatch: draft.body.version ?? 0, body: { limits: [rate(2000, 100)], quotas: [] } });
    await api.call('POST', '/v1/tiers/pro/publish', { body: { effectiveAt: new Date(clock.now() + 20_000).toISOString() } });
    clock.advance(2000);
    expect((await tierOf('pro')).limits[0]).toMatchObject({ limit: 1000 });
    expect(String((await get('/limits.json')).headers['cache-control'])).toMatch(/^public, max-age=1[78], must-revalidate$/);
    clock.advance(18_000);
    expect((await tierOf('pro')).limits[0]).toMatchObject({ limit: 2000 });
  });

  it('judges callers without credentials as their reserved tenant is judged, overrides and all', async () => {
    const { id } = await rig.prisma.tenant.findUniqueOrThrow({ where: { slug: 'anonymous' } });
    await rig.prisma.override.create({
      data: { tenantId: id, subject: { scope: 'tenant' }, mode: 'exactly', set: { limits: { 'per-address': { limit: 60, burst: 15 } } }, reason: 'spec', from: new Date(0), createdBy: 'spec' },
    });
    await rig.tenants.publish(['anonymous']);
    clock.advance(2000);
    const tier = await tierOf('anonymous');
    expect(tier.limits[1]).toMatchObject({ limit: 60, burst: 15 });
    expect(tier.limits.map(({ window: _window, worstCaseUnits: _worst, ...told }) => told)).toEqual(enforced(await segmentOf('anonymous')));
  });

  it('is the same text every time, and 304 for who has it', async () => {
    const first = await get('/limits.json');
    clock.advance(2000);
    const second = await get('/limits.json');
    expect(second.text).toBe(first.text);
    expect(first.headers['access-control-allow-origin']).toBe('*');
    const held = await get('/limits.json', { 'if-none-match': `W/${String(first.headers['etag'])}` });
    expect([held.status, held.text, held.headers['etag']]).toEqual([304, '', first.headers['etag']]);
    expect((await get('/limits.json', { 'if-none-match': '"another"' })).status).toBe(200);
  });

  it('asks the stores once for all who come within a second', async () => {
    await read();
    await rig.prisma.tier.update({ where: { slug: 'free' }, data: { name: 'Renamed' } });
    expect((await tierOf('free')).name).toBe('free');
    clock.advance(1000);
    expect((await tierOf('free')).name).toBe('Renamed');
  });
});

describe('/limits', () => {
  it('has one anchor for every name that a denial can link to', async () => {
    const [{ text, headers }, { tiers }] = [await get('/limits'), await read()];
    const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    const names = tiers.flatMap(({ limits, quotas }) => [...limits, ...quotas].map(({ name }) => name));
    expect(ids).toEqual(expect.arrayContaining([...names, 'in-flight']));
    expect(new Set(ids).size).toBe(ids.length);
    const targets = [...text.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    expect(targets.filter((id) => !ids.includes(id ?? ''))).toEqual([]);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
  });

  it('needs no script, no inline style and nothing from elsewhere, so that the policy of the API holds', async () => {
    const { text, headers } = await get('/limits');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(text).not.toMatch(/<script|<style| style=|<img|src="/);
    expect((await get('/limits/limits.css')).headers['content-type']).toContain('text/css');
    expect((await get('/limits/quota-fetch.js')).headers['content-type']).toContain('text/javascript');
  });

  it('escapes what operators typed', async () => {
    await rig.prisma.tier.update({ where: { slug: 'free' }, data: { name: '<b>"Free" & more', support: "<script>'x'</script>" } });
    const { text } = await get('/limits');
    expect(text).toContain('&#60;b&#62;&#34;Free&#34; &#38; more');
    expect(text).not.toContain('<script');
  });
});

it.each([['lost', null], ['broken', '{"v":1,']])('stays up while the document of classes in Redis is %s, with what the worker would publish', async (_, text) => {
  const before = (await read()).classes;
  await (text === null ? rig.redis.del(redisKeys.classes) : rig.redis.set(redisKeys.classes, text));
  clock.advance(2000);
  expect((await read()).classes).toEqual(before);
});
