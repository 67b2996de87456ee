import { setTimeout as sleep } from 'node:timers/promises';
import type { DenialProblem, Limit, TierContent } from '@quotaplane/contracts';
import { describe, expect, it } from 'vitest';
import { call, flood, headerOf } from './rig/http-call';
import { limitItems, tightest, wholeNumber } from './rig/limit-fields';
import { bucketBounds, byStore, control, denied, echoUrl, expectPasses, floodEcho, isMachineCalm, otherEchoUrl, untilUntouched } from './rig/story';

const HOBBY = 'demo-hobby';
/** Tier `free`: 100 per minute, burst 20. */
const HOBBY_BUCKET = { capacity: 20, limit: 100, windowMs: 60_000 };
const DAY_MS = 86_400_000;

describe('point 1: a limit holds, and says so', () => {
  it('lets 20 calls of hobby through at once and then answers 429 with all fields and the problem body', async () => {
    await untilUntouched(echoUrl, HOBBY);
    const first = await floodEcho([echoUrl], HOBBY, 20, 8);
    expect(first.map(({ status }) => status)).toEqual(Array(20).fill(200));
    const [denial] = byStore(denied(await floodEcho([echoUrl], HOBBY, 30, 8)));
    if (!denial) throw new Error('none of 30 calls past the burst was denied');

    const [rate, month] = limitItems(denial, 'RateLimit-Policy');
    expect(rate).toEqual({ name: 'per-minute', parameters: new Map([['q', 100], ['w', 60], ['qp-burst', 20]]) });
    expect(month?.name).toBe('month');
    expect(month?.parameters.get('q')).toBe(1_000_000);
    expect(month?.parameters.get('w')).toBeGreaterThanOrEqual(28 * 86_400 - 3600);
    const violated = limitItems(denial, 'RateLimit');
    expect(violated.map(({ name }) => name)).toEqual(['per-minute']);
    expect(violated[0]?.parameters.get('r')).toBe(0);
    expect(violated[0]?.parameters.get('t')).toBe(1);
    expect(violated[0]?.parameters.get('qp-cost')).toBe(1);
    expect(violated[0]?.parameters.get('pk')).toBeInstanceOf(ArrayBuffer);
    expect(tightest(denial)).toMatchObject({ limit: 20, remaining: 0 });
    expect(tightest(denial).resetS).toBeGreaterThan(10);
    expect(tightest(denial).resetS).toBeLessThanOrEqual(12);
    expect(wholeNumber(denial, 'Retry-After')).toBe(1);
    expect(headerOf(denial, 'Cache-Control')).toBe('no-store');
    expect(headerOf(denial, 'RateLimit-Source')).toBe('');
    expect(headerOf(denial, 'Content-Type')).toMatch(/^application\/problem\+json/);

    const problem = JSON.parse(denial.body) as DenialProblem;
    expect(problem).toMatchObject({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded', title: 'Quota exceeded', status: 429, code: 'rate_limited',
      scope: 'tenant', policy: 'per-minute', limit: 100, 'violated-policies': ['per-minute'], retryAfter: 1, reset: tightest(denial).resetS,
    });
    expect(problem.detail).toBe('per-minute: 0 units available, this request needs 1; try again in 1 second');
    expect(problem.requestId).toMatch(/^\S+$/);
    expect(problem).not.toHaveProperty('decision');
  });

  it('carries the fields on every status and lists them for pages of other origins', async () => {
    // The first look at a tenant teaches the node its policy, which a busy machine may take longer for than a decision may wait.
    await untilUntouched(echoUrl, 'demo-globex');
    // After a loss of Redis, as other points make, no slot is given until all nodes have told of theirs.
    await expect.poll(async () => (await call(`${echoUrl}/stream?ms=1`, { key: 'demo-globex' })).status, { timeout: 60_000, interval: 500 }).toBe(200);
    const wanted: [path: string, status: number][] = [['/echo', 200], ['/fail', 500], ['/no-such-route', 404], ['/stream?ms=oops', 422]];
    for (const [path, status] of wanted) {
      // The one route that holds a slot says how many there are.
      const names = path.startsWith('/stream') ? ['per-minute', 'month', 'in-flight'] : ['per-minute', 'month'];
      const answer = await call(`${echoUrl}${path}`, { key: 'demo-globex', headers: { origin: 'https://app.example.com' } });
      expect([path, answer.status]).toEqual([path, status]);
      expect(limitItems(answer, 'RateLimit-Policy').map(({ name }) => name)).toEqual(names);
      expect(limitItems(answer, 'RateLimit').map(({ name }) => name)).toEqual(names);
      expect(tightest(answer).remaining).toBeLessThanOrEqual(tightest(answer).limit);
      const exposed = headerOf(answer, 'Access-Control-Expose-Headers').split(', ');
      expect(exposed).toEqual(expect.arrayContaining(['RateLimit-Policy', 'RateLimit', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'Retry-After', 'RateLimit-Source']));
    }
  });

  it.each([
    ['one echo process', [echoUrl]],
    ['two echo processes on one Redis', [echoUrl, otherEchoUrl]],
  ])('passes of 70 calls, eight at a time, exactly the capacity and what refills meanwhile: %s', async (_, urls) => {
    await untilUntouched(echoUrl, HOBBY);
    const isCalm = await isMachineCalm();
    const answers = await floodEcho(urls, HOBBY, 70, 8);
    expectPasses(answers, bucketBounds(answers, HOBBY_BUCKET), isCalm);
  });

  it.each<[string, Limit, number]>([
    ['fixed window', { name: 'window', algorithm: 'fixed-window', scope: 'tenant', limit: 150, windowMs: DAY_MS, alignment: 'first-hit', mode: 'enforce' }, 150],
    ['token bucket', { name: 'bucket', algorithm: 'token-bucket', scope: 'tenant', limit: 120, windowMs: DAY_MS, burst: 120, mode: 'enforce' }, 120],
  ])('gives exactly its limit under limit + 50 in parallel, without a concurrency cap: %s', async (name, limit, units) => {
    const tier = await control.tier(name.replace(' ', '-'), { limits: [limit] });
    const { key } = await control.tenant(name.replace(' ', '-'), tier);
    const isCalm = await isMachineCalm();
    const answers = await floodEcho([echoUrl, otherEchoUrl], key, units + 50, units + 50);
    expectPasses(answers, { least: units, most: units }, isCalm);
  });

  it('C002 a client that waits as told passes, one that waits a second less does not', async () => {
    // Mutation: cutting Retry-After's fraction off instead of rounding it up.
    const content: Partial<TierContent> = { limits: [{ name: 'slow', algorithm: 'gcra', scope: 'tenant', limit: 1, windowMs: 1500, burst: 1, mode: 'enforce' }] };
    const { key } = await control.tenant('waits', await control.tier('waits', content));
    for (const url of [echoUrl, otherEchoUrl]) {
      const [first, second] = await flood(2, 1, () => call(`${url}/echo`, { key }));
      expect([first?.status, second?.status]).toEqual([200, 429]);
      if (!second) continue;
      expect(wholeNumber(second, 'Retry-After')).toBe(2);
      await sleep(1000);
      // The pause and two calls together are still under 1.5 s, or the machine stood still: then this half says nothing.
      const early = await call(`${url}/echo`, { key });
      if (Date.now() - (first?.sentAt ?? 0) < 1500) expect(early.status).toBe(429);
      await sleep(1000);
      const [retry] = await flood(1, 1, () => call(`${url}/echo`, { key }));
      if (early.status === 429) expect(retry?.status).toBe(200);
      await sleep(1600);
    }
  });

  it('hobby passes again after the Retry-After of its denial, each time', async () => {
    await floodEcho([echoUrl], HOBBY, 30, 8);
    for (let round = 0; round < 5; round += 1) {
      const [denial] = denied(await floodEcho([echoUrl], HOBBY, 6, 1));
      if (!denial) throw new Error('six calls in a row on an empty bucket passed');
      await sleep(wholeNumber(denial, 'Retry-After') * 1000);
      expect((await call(`${otherEchoUrl}/echo`, { key: HOBBY })).status).toBe(200);
    }
  });
});
