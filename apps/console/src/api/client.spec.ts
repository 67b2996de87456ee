import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiProblem, nextStep } from './api-problem';
import { call, randomKey, urlOf } from './client';
import { pointerToName } from './form-problem';

/** What the browser would send and be given; the wire itself is told by the stories. */
let sent: { url: string; init: RequestInit }[];
let answer: () => Response;

beforeEach(() => {
  sent = [];
  answer = () => Response.json({ items: [], nextCursor: null });
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    sent.push({ url, init });
    return answer();
  });
});
afterEach(() => vi.unstubAllGlobals());

describe('a call by its contract', () => {
  it('fills the path, leaves out what is not asked for, and escapes both', async () => {
    await call('tenantsList', { query: { q: 'a&b', tier: undefined, limit: 10 } });
    await call('tenantsGet', { params: { slug: 'a/b' } });
    expect(sent.map(({ url }) => url)).toEqual(['/v1/tenants?q=a%26b&limit=10', '/v1/tenants/a%2Fb']);
  });

  it('sends neither a body nor the console’s header with a read', async () => {
    await call('nodesList', {});
    expect(sent[0]?.init).toMatchObject({ method: 'GET', body: undefined, credentials: 'same-origin', headers: { Accept: 'application/json' } });
    expect(sent[0]?.init.headers).not.toHaveProperty('X-Quotaplane-Console');
  });

  it('marks every write as the console’s own and names the version it edits', async () => {
    await call('settingsPatch', { body: { fallbackTier: 'free' }, ifVersion: 7 });
    expect(sent[0]?.init).toMatchObject({
      method: 'PATCH',
      body: '{"fallbackTier":"free"}',
      headers: { 'X-Quotaplane-Console': '1', 'If-Match': '"7"', 'Content-Type': 'application/json' },
    });
    expect(sent[0]?.init.headers).not.toHaveProperty('Idempotency-Key');
  });

  it('gives a creating call an Idempotency-Key, the caller’s own where a retry must be the same', async () => {
    await call('overridesRevert', { params: { id: 'x' }, body: { reason: 'because' } });
    await call('overridesRevert', { params: { id: 'x' }, body: { reason: 'because' }, idempotencyKey: 'mine' });
    expect(sent[0]?.init.headers).toHaveProperty('Idempotency-Key', expect.stringMatching(/^[0-9a-f]{32}$/));
    expect(sent[1]?.init.headers).toHaveProperty('Idempotency-Key', 'mine');
  });

  it('reads no body from 204', async () => {
    answer = () => new Response(null, { status: 204 });
    await expect(call('signOut', {})).resolves.toBeUndefined();
  });
});

describe('a call that fails', () => {
  const failure = (): Promise<ApiProblem> =>
    call('whoAmI', {}).then(
      () => Promise.reject(new Error('it passed')),
      (error: ApiProblem) => error,
    );

  it('carries code, words, fields and request id of problem+json', async () => {
    answer = () =>
      Response.json(
        {
          type: 'about:blank',
          title: 'Invalid',
          status: 422,
          detail: 'The reason is too short',
          code: 'invalid',
          requestId: 'r-1',
          errors: [{ pointer: '/reason', detail: 'too short' }],
        },
        { status: 422 },
      );
    expect(await failure()).toMatchObject({
      code: 'invalid',
      status: 422,
      message: 'The reason is too short',
      requestId: 'r-1',
      errors: [{ pointer: '/reason', detail: 'too short' }],
    });
  });

  it('still has the request id when the answer is a proxy’s page', async () => {
    answer = () => new Response('<html>', { status: 502, headers: { 'x-request-id': 'r-2' } });
    expect(await failure()).toMatchObject({ code: 'unreadable', status: 502, requestId: 'r-2' });
  });

  it('is a problem of the network when nothing answered', async () => {
    answer = () => {
      throw new TypeError('Failed to fetch');
    };
    expect(await failure()).toMatchObject({ code: 'network', status: 0, requestId: null });
  });

  it('does not say again how long to wait where the answer does', async () => {
    answer = () =>
      Response.json(
        { type: 'about:blank', title: 'Too many', status: 429, detail: 'Too many attempts to sign in; try again in 12 s', code: 'sign_in_limited', requestId: 'r-3' },
        { status: 429, headers: { 'retry-after': '12' } },
      );
    const problem = await failure();
    expect([problem.message, nextStep(problem)]).toEqual(['Too many attempts to sign in; try again in 12 s', '']);
  });
});

it('names the field a pointer points to', () => {
  expect(pointerToName('/set/limits/per-minute/burst')).toBe('set.limits.per-minute.burst');
  expect(pointerToName('/a~1b/~0c')).toBe('a/b.~c');
});

it('links to an export without calling it', () => {
  expect(urlOf('usageExport', { query: { period: '2026-11', format: 'csv' } })).toBe('/v1/usage/export?period=2026-11&format=csv');
});

it('never makes the same key twice', () => {
  expect(new Set(Array.from({ length: 1000 }, randomKey)).size).toBe(1000);
});
