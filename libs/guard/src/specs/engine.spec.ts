import { ALGORITHMS } from '@quotaplane/contracts';
import { readJournals } from '@quotaplane/usage';
import { Registry } from 'prom-client';
import { parseList } from 'structured-headers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EngineRig, gate, ran } from './engine-app';
import { ADAPTERS } from './guarded-app';
import { limitOf, policyOf } from './policies';

const HOUR_MS = 3_600_000;
/** Values of one metric whose labels are the given ones, added up. */
const metricOf = async (registry: Registry, name: string, labels: Record<string, string> = {}): Promise<number> => {
  const { values } = (await registry.getSingleMetric(name)?.get()) ?? { values: [] };
  return values.filter((one) => Object.entries(labels).every(([label, value]) => one.labels[label] === value)).reduce((sum, { value }) => sum + value, 0);
};

describe.each(ADAPTERS)('the engine behind %s', (adapter) => {
  const registry = new Registry();
  let rig: EngineRig;

  beforeAll(async () => {
    rig = await EngineRig.start(adapter, { registry, defaultLimits: [{ name: 'start', limit: 100, windowMs: 60_000 }] });
  });
  afterAll(() => rig.stop());

  it.each(ALGORITHMS)('admits exactly the limit of a %s under more calls at once, and tells it before', async (algorithm) => {
    const key = await rig.tenant(`at-once-${algorithm}`, { limits: [limitOf({ algorithm, limit: 10, burst: null, windowMs: HOUR_MS, ...(algorithm === 'leaky-bucket' ? { maxQueue: 9, maxWaitMs: 0 } : {}) })] });
    const answers = await Promise.all(Array.from({ length: 40 }, () => rig.get('/plain', key)));
    // A queue that nobody may wait in lets one call an interval go.
    const expected = algorithm === 'leaky-bucket' ? 1 : 10;
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(expected);
    const denied = answers.find(({ status }) => status === 429);
    expect(Number(denied?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(denied?.headers.get('ratelimit-policy')).toBe('"per-minute";q=10;w=3600');
    expect(denied?.headers.get('ratelimit-limit')).toBe('10');
  });

  it('lets the calls of a queue go one after another, and says what is left of it', async () => {
    const key = await rig.tenant('queue', { limits: [limitOf({ algorithm: 'leaky-bucket', limit: 10, burst: null, windowMs: 2000, maxQueue: 3, maxWaitMs: 2000 })] });
    const startedAtMs = performance.now();
    const took = await Promise.all(Array.from({ length: 5 }, async () => {
      const answer = await rig.get('/plain', key);
      return { status: answer.status, afterMs: performance.now() - startedAtMs, limit: answer.headers.get('ratelimit-limit') };
    }));
    const passed = took.filter(({ status }) => status === 200).map(({ afterMs }) => afterMs).sort((a, b) => a - b);
    expect(passed).toHaveLength(4);
    expect(took.every(({ limit }) => limit === '4')).toBe(true);
    // The last of four departs three intervals of 200 ms after the first.
    expect((passed[3] ?? 0)).toBeGreaterThanOrEqual(600);
  });

  it('gives the place in a queue back when its caller goes, and runs nothing for it', async () => {
    const key = await rig.tenant('leaver', { limits: [limitOf({ algorithm: 'leaky-bucket', limit: 1, burst: null, windowMs: 60_000, maxQueue: 1, maxWaitMs: 60_000 })] });
    ran.length = 0;
    expect(await rig.status('/ran?id=first', key)).toBe(200);
    const leaver = new AbortController();
    const left = rig.get('/ran?id=leaver', key, { signal: leaver.signal }).catch(() => undefined);
    const state = async (): Promise<number> => (await rig.get('/plain', key)).status;
    await expect.poll(state, { interval: 20 }).toBe(429);
    leaver.abort();
    await left;
    const next = new AbortController();
    // Its place is free again: a third call waits in it instead of being refused.
    await expect.poll(async () => {
      const timer = setTimeout(() => next.abort(), 300);
      const answer = await rig.get('/ran?id=third', key, { signal: next.signal }).catch(() => 'waiting');
      clearTimeout(timer);
      return answer;
    }, { interval: 50 }).toBe('waiting');
    expect(ran).toEqual(['first']);
    expect(await metricOf(registry, 'quotaplane_refunds_total', { reason: 'gone' })).toBeGreaterThan(0);
  });

  // Mutation: release refunds nothing, refunds twice, or does not know an aborted call.
  it('C061 gives units back once by outcome: 10 good, 10 answering 400, 5 aborted use 10', async () => {
    const key = await rig.tenant('c061', { limits: [limitOf({ algorithm: 'fixed-window', limit: 100, burst: null, windowMs: HOUR_MS })], quotas: [{ meter: 'requests', allowance: 1000, overage: 'reject' }] });
    for (let call = 0; call < 10; call += 1) expect(await rig.status('/outcome?status=200', key)).toBe(200);
    for (let call = 0; call < 10; call += 1) expect(await rig.status('/outcome?status=400', key)).toBe(400);
    const aborted = (): Promise<number> => metricOf(registry, 'quotaplane_refunds_total', { class: 'refunding', reason: 'aborted' });
    for (let calls = 0; calls < 5; calls += 1) {
      const caller = new AbortController();
      const call = rig.get('/outcome', key, { signal: caller.signal }).catch(() => undefined);
      await expect.poll(() => gate.inside, { interval: 5 }).toBe(1);
      caller.abort();
      await call;
      await expect.poll(aborted, { interval: 5 }).toBe(calls + 1);
      gate.open();
    }
    const remaining = async (): Promise<(number | undefined)[]> =>
      parseList((await rig.get('/outcome?status=400', key)).headers.get('ratelimit') ?? '').map(([, parameters]) => Number(parameters.get('r')));
    // 10 used, and the looking call itself, which goes back in its turn.
    await expect.poll(remaining, { interval: 30 }).toEqual([89, 989]);
    await expect.poll(async () => {
      const rows = (await readJournals(rig.client)).flatMap((batch) => batch.rows).filter(({ tenant }) => tenant === 'c061');
      return rows.reduce((sum, row) => sum + row.admitted - row.refunded, 0n);
    }, { timeout: 5000 }).toBe(10n);
  });

  it('leaves units where the class gives none back', async () => {
    const key = await rig.tenant('no-refund', { limits: [limitOf({ algorithm: 'fixed-window', limit: 5, burst: null, windowMs: HOUR_MS })] });
    expect(await rig.status('/codes/1', key)).toBe(200);
    expect((await rig.get('/outcome?status=500', key)).headers.get('ratelimit-remaining')).toBe('3');
    expect((await rig.get('/plain', key)).headers.get('ratelimit-remaining')).toBe('2');
  });

  it('caps calls in flight, says so in its own words, and gives the slot back', async () => {
    const key = await rig.tenant('slots', { limits: [limitOf({ limit: 100, burst: 100 })], concurrency: 2 });
    const held = [rig.get('/held', key), rig.get('/held', key)];
    await expect.poll(() => gate.inside, { interval: 5 }).toBe(2);
    expect(await metricOf(registry, 'quotaplane_concurrency_in_use')).toBe(2);
    const denied = await rig.get('/held', key);
    expect(denied.status).toBe(429);
    expect(denied.headers.get('ratelimit-policy')).toBe('"per-minute";q=100;w=60, "in-flight";q=2;qu="concurrent-requests"');
    expect(parseList(denied.headers.get('ratelimit') ?? '').map(([name]) => name)).toEqual(['in-flight']);
    // Never concurrency in the older three.
    expect(denied.headers.get('ratelimit-limit')).toBe('100');
    expect(Number(denied.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(await denied.json()).toMatchObject({ code: 'concurrency_exceeded', policy: 'in-flight', limit: 2, 'violated-policies': ['in-flight'] });
    gate.open();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200]);
    await expect.poll(() => metricOf(registry, 'quotaplane_concurrency_in_use'), { interval: 10 }).toBe(0);
    const caller = new AbortController();
    const gone = rig.get('/held', key, { signal: caller.signal }).catch(() => undefined);
    await expect.poll(() => gate.inside, { interval: 5 }).toBe(1);
    caller.abort();
    await gone;
    await expect.poll(() => metricOf(registry, 'quotaplane_concurrency_in_use'), { interval: 10 }).toBe(0);
    gate.open();
  });

  it('keeps slots that are held through a new generation of the tenant', async () => {
    const parts = { limits: [], concurrency: 2 };
    const key = await rig.tenant('generations', parts);
    const before = rig.get('/held', key);
    await expect.poll(() => gate.inside, { interval: 5 }).toBe(1);
    await rig.publisher.publishTenant({ policy: policyOf({ ...parts, tenant: 'generations', revision: 2 }), generation: 2, changeId: 'regenerated' });
    // Nothing is given until other nodes have had time to write their counts anew; then there is one slot left, not two.
    const after: Promise<Response>[] = [];
    await expect.poll(async () => {
      after.push(rig.get('/held', key));
      await new Promise((resolve) => setTimeout(resolve, 100));
      return gate.inside;
    }, { timeout: 10_000, interval: 200 }).toBe(2);
    for (let call = 0; call < 3; call += 1) expect(await rig.status('/held', key)).toBe(429);
    gate.open();
    expect((await before).status).toBe(200);
    await Promise.all(after);
    await expect.poll(() => metricOf(registry, 'quotaplane_concurrency_in_use'), { interval: 10 }).toBe(0);
  });

  it('makes repeats under one Idempotency-Key cheaper, as often as the class says, and counts what was charged', async () => {
    const key = await rig.tenant('repeat', { limits: [limitOf({ algorithm: 'fixed-window', limit: 100, burst: null, windowMs: HOUR_MS })] });
    const pay = async (idempotencyKey: string): Promise<string | null> =>
      (await rig.get('/pay', { ...key, 'Idempotency-Key': idempotencyKey }, { method: 'POST' })).headers.get('ratelimit-remaining');
    expect([await pay('one'), await pay('one'), await pay('one'), await pay('one')]).toEqual(['90', '89', '88', '78']);
    expect(await pay('two')).toBe('68');
    // No key: a blank header, or one that is too long.
    expect(await pay('x'.repeat(256))).toBe('58');
    expect((await rig.get('/pay', { ...key, 'Idempotency-Key': 'two' }, { method: 'POST' })).headers.get('ratelimit')).toContain('qp-cost=1');
    await expect.poll(async () => {
      const rows = (await readJournals(rig.client)).flatMap((batch) => batch.rows).filter(({ tenant }) => tenant === 'repeat');
      return rows.reduce((sum, row) => sum + row.admitted, 0n);
    }, { timeout: 5000 }).toBe(43n);
  });

  it('judges a proposed limit beside the live one: never denies, never shows, only counts', async () => {
    const shadow = limitOf({ name: 'proposed', mode: 'shadow', algorithm: 'fixed-window', limit: 2, burst: null, windowMs: HOUR_MS });
    const key = await rig.tenant('shadow', { limits: [limitOf({ limit: 100, burst: 100 }), shadow] });
    const answers = [];
    for (let call = 0; call < 5; call += 1) answers.push(await rig.get('/plain', key));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(answers.every(({ headers }) => !`${headers.get('ratelimit')}${headers.get('ratelimit-policy')}`.includes('proposed'))).toBe(true);
    const told = (result: string): Promise<number> => metricOf(registry, 'quotaplane_shadow_decisions_total', { limit: 'proposed', scope: 'tenant', class: 'default', result });
    await expect.poll(() => told('allowed'), { interval: 10 }).toBe(2);
    await expect.poll(() => told('denied'), { interval: 10 }).toBe(3);
  });

  it('gives back what a proposed limit charged where the live units go back', async () => {
    const shadow = limitOf({ name: 'proposed-refund', mode: 'shadow', algorithm: 'fixed-window', limit: 1, burst: null, windowMs: HOUR_MS });
    const key = await rig.tenant('shadow-refund', { limits: [shadow] });
    const told = (): Promise<number> => metricOf(registry, 'quotaplane_shadow_decisions_total', { limit: 'proposed-refund', result: 'allowed' });
    for (let calls = 1; calls <= 3; calls += 1) {
      await rig.status('/outcome?status=400', key);
      await expect.poll(told, { interval: 10 }).toBe(calls);
      await expect.poll(() => rig.client.keys('qp:{shadow-refund}:c:*'), { interval: 10 }).toEqual([]);
    }
  });

  // Mutation: a path instead of its template narrows the counter.
  it('C038 counts 500 values of one path parameter as one route', async () => {
    const key = await rig.tenant('c038', { limits: [limitOf({ algorithm: 'fixed-window', limit: 10, burst: null, windowMs: HOUR_MS, perRoute: true })] });
    const statuses = await Promise.all(Array.from({ length: 500 }, (_, code) => rig.status(`/codes/${code}`, key)));
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(await rig.status('/plain', key)).toBe(200);
  });

  // Mutation: limits are charged one after another, or a denial is charged at all.
  it('C062 charges no other limit for calls that one of them denies', async () => {
    const limits = [
      limitOf({ name: 'per-hour', algorithm: 'fixed-window', limit: 100, burst: null, windowMs: HOUR_MS }),
      limitOf({ name: 'per-day', algorithm: 'fixed-window', limit: 3, burst: null, windowMs: 24 * HOUR_MS }),
    ];
    const key = await rig.tenant('c062', { limits, quotas: [{ meter: 'requests', allowance: 1000, overage: 'reject' }] });
    for (let call = 0; call < 3; call += 1) expect(await rig.status('/plain', key)).toBe(200);
    for (let call = 0; call < 50; call += 1) expect(await rig.status('/plain', key)).toBe(429);
    await rig.tenant('c062', { revision: 2, limits: limits.slice(0, 1), quotas: [{ meter: 'requests', allowance: 1000, overage: 'reject' }] });
    const figures = parseList((await rig.get('/plain', key)).headers.get('ratelimit') ?? '').map(([, parameters]) => parameters.get('r'));
    expect(figures[0]).toBe(96);
    expect((await rig.get('/plain', key)).headers.get('ratelimit-limit')).toBe('100');
  });

  // Mutation: a refund is skipped for an empty counter, or an exhausted one stays denied.
  it('C042 lets exactly one more call through after a refund at zero', async () => {
    const key = await rig.tenant('c042', { limits: [limitOf({ algorithm: 'fixed-window', limit: 1, burst: null, windowMs: HOUR_MS })] });
    expect(await rig.status('/outcome?status=400', key)).toBe(400);
    await expect.poll(() => rig.status('/plain', key), { interval: 20 }).toBe(200);
    expect(await rig.status('/plain', key)).toBe(429);
  });

  // Mutation: a denial clamps, drains or goes below what is left, or when cost_exceeds_limit tells a wait.
  it('C041 answers costs above what is left, above the limit, and fitting ones, each in its own way', async () => {
    const key = await rig.tenant('c041', { limits: [limitOf({ algorithm: 'fixed-window', limit: 19, burst: null, windowMs: HOUR_MS })] });
    for (let call = 0; call < 8; call += 1) await rig.status('/plain', key);
    const post = (): Promise<Response> => rig.get('/pay', key, { method: 'POST' });
    expect((await post()).headers.get('ratelimit-remaining')).toBe('1');
    expect((await post()).headers.get('ratelimit-remaining')).toBe('1');
    expect(await rig.status('/plain', key)).toBe(200);
    const small = await rig.tenant('c041-small', { limits: [limitOf({ algorithm: 'fixed-window', limit: 9, burst: null, windowMs: HOUR_MS })] });
    const never = await rig.get('/pay', small, { method: 'POST' });
    expect([never.status, never.headers.get('retry-after')]).toEqual([422, null]);
  });

  // Mutation: a denial counts as a failure of the store.
  it('C027 takes no denial for the absence of the store', async () => {
    const key = await rig.tenant('c027', { limits: [limitOf({ algorithm: 'fixed-window', limit: 2, burst: null, windowMs: HOUR_MS })] });
    const never = await rig.get('/pay', key, { method: 'POST' });
    expect([never.status, ((await never.json()) as { code: string }).code]).toEqual([422, 'cost_exceeds_limit']);
    const answers = [];
    for (let at = 0; at < 20; at += 1) answers.push(await rig.get('/plain', key));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, ...Array<number>(18).fill(429)]);
    expect(answers.some(({ headers }) => headers.has('ratelimit-source'))).toBe(false);
    expect(await metricOf(registry, 'quotaplane_fallbacks_total')).toBe(0);
  });
});
