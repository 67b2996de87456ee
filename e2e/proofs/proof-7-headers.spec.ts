import { figure } from '@quotaplane/testing';
import { describe, expect, it } from 'vitest';
import { call, flood, headerOf, type Answer, type CallOptions } from '../story/rig/http-call';
import { limitItems, tightest } from '../story/rig/limit-fields';
import { byStore } from '../story/rig/story';
import { balanced, nodeUrls, tenantOn } from './rig/fleet';
import { limitFor } from './rig/limits';

const CALLS = figure(2000, 20_000);

type Probe = readonly [path: string, status: number, options?: CallOptions];
const PROBES: readonly Probe[] = [
  ['/echo', 200],
  ['/echo', 200, { method: 'POST', body: { a: 1 } }],
  ['/search?q=x', 200],
  ['/bulk', 200, { method: 'POST', body: { items: [1, 2] } }],
  ['/bulk', 422, { method: 'POST', body: { items: 'none' } }],
  ['/stream?ms=1', 200],
  ['/stream?ms=oops', 422],
  ['/fail', 500],
  ['/no-such-route', 404],
];

const expectFields = (answer: Answer): void => {
  expect(limitItems(answer, 'RateLimit-Policy').length).toBeGreaterThan(0);
  expect(limitItems(answer, 'RateLimit').length).toBeGreaterThan(0);
  const { limit, remaining, resetS } = tightest(answer);
  expect(remaining).toBeLessThanOrEqual(limit);
  expect(resetS).toBeGreaterThanOrEqual(0);
  if (answer.status === 429) expect(Number(headerOf(answer, 'Retry-After'))).toBeGreaterThanOrEqual(1);
};

describe('proof 7: the fields are on every answer (P04)', () => {
  const fleet = balanced(4);

  it('C016 of thousands of calls over 50 connections, whatever the status', async () => {
    // Mutation: write the fields only where the handler returned.
    const { key } = await tenantOn('fields', { limits: [limitFor('token-bucket', { limit: 1_000_000, windowMs: 60_000, burst: 100_000 })], concurrency: 1000 });
    const answers = await flood(CALLS, 50, async (index) => {
      const [path, status, options] = PROBES[index % PROBES.length] ?? PROBES[0]!;
      return { status, answer: await call(`${fleet.url}${path}`, { key, ...options }) };
    });
    for (const { status, answer } of answers) {
      expect(answer.status).toBe(status);
      expectFields(answer);
    }
  });

  it('on denials', async () => {
    const { key } = await tenantOn('fields-denied', { limits: [limitFor('token-bucket', { limit: 5, windowMs: 60_000, burst: 5 })] });
    const answers = await flood(12, 1, () => call(`${fleet.url}/echo`, { key }));
    expect(byStore(answers).map(({ status }) => status).slice(0, 5)).toEqual(Array(5).fill(200));
    expect(byStore(answers).slice(5).every(({ status }) => status === 429)).toBe(true);
    answers.forEach(expectFields);
  });

  it.each<[what: string, status: number, path: string, options: CallOptions]>([
    ['a body that is no JSON', 400, '/echo', { method: 'POST', text: '{"a":' }],
    ['a body that is too large', 413, '/echo', { method: 'POST', text: JSON.stringify('x'.repeat(300_000)), isOnOwnConnection: true }],
    ['a path that no route matches', 404, '/nowhere/at/all', {}],
    ['a method that no route takes', 404, '/echo', { method: 'DELETE' }],
  ])('on %s', async (_, status, path, options) => {
    const { key } = await tenantOn('fields-early', { limits: [limitFor('token-bucket', { limit: 50, windowMs: 60_000, burst: 50 })] });
    // Straight to a node: one that refuses a body unread resets the connection, which a balancer shows as a failure of its own.
    const answer = await call(`${nodeUrls[0]}${path}`, { key, ...options });
    expect(answer.status).toBe(status);
    expectFields(answer);
  });

  it('names one reset instant for all calls of a window', async () => {
    const windowMs = 4000;
    const { key } = await tenantOn('fields-window', { limits: [{ ...limitFor('fixed-window', { limit: 10_000, windowMs }), alignment: 'epoch' }] });
    const answers = await flood(figure(400, 4000), 20, () => call(`${fleet.url}/echo`, { key }));
    const ends = new Set<number>();
    for (const answer of answers) {
      // Whole seconds, rounded up: the end that is meant lies within a second of what is told, and all clocks here are one.
      const endsAt = Math.ceil(answer.sentAt / windowMs) * windowMs;
      const { resetS } = tightest(answer);
      expect(answer.receivedAt + resetS * 1000).toBeGreaterThanOrEqual(endsAt - 1);
      expect(answer.sentAt + resetS * 1000 - 1000).toBeLessThanOrEqual(endsAt + (answer.receivedAt > endsAt ? windowMs : 0));
      ends.add(endsAt);
    }
    expect(ends.size).toBeGreaterThan(0);
  });
});
