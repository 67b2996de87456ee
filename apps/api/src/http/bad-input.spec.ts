import { routes, type RouteContract } from '@quotaplane/contracts';
import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startSpecApp, type SpecAnswer, type SpecApp } from './spec-app';

let postgres: TestPostgres;
let redis: TestRedis;
let api: SpecApp;
beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  api = await startSpecApp({ databaseUrl: postgres.url, redisUrl: redis.url });
});
afterAll(async () => {
  await api?.stop();
  await Promise.all([postgres?.stop(), redis?.stop()]);
});

const UUID = '7d444840-9dc0-41d2-a86e-3c1f5a1d5f3a';
const TAGS = ['tiers', 'endpoint classes', 'settings', 'access', 'audit'];
const all = Object.entries(routes as Readonly<Record<string, RouteContract>>).filter(([, { tag }]) => TAGS.includes(tag));
const pathOf = (contract: RouteContract): string => contract.path.replace('{slug}', 'some-tier').replace('{id}', UUID);
/** Lists that take a cursor before they look for anything named in their path. */
const lists = all.filter(([, { query }]) => query !== undefined && 'cursor' in query.shape);
const withBody = all.filter(([, { body }]) => body !== undefined);

/** Values of every type, and the edges of numbers and text. */
const WRONG = [null, true, 0, -1, 1.5, 2 ** 53, '', 'UPPER', '\u0000', '\ud800', 'x'.repeat(5_000), [], [[]], {}, { a: { b: 1 } }];

function send(contract: RouteContract, body: unknown): Promise<SpecAnswer> {
  return api.call(contract.method, pathOf(contract), { body, headers: { 'if-match': '"1"' } });
}

/** What a refusal of input owes its caller. */
function expectPointers(answer: SpecAnswer): void {
  expect(answer.status).toBe(422);
  expect(answer.body.errors?.length).toBeGreaterThan(0);
  for (const { pointer, detail } of answer.body.errors ?? []) {
    expect(pointer).toMatch(/^(\/|$)/);
    expect(detail).toBeTruthy();
  }
}

describe('bad bodies', () => {
  // Mutation: make one of the contract's objects loose, and its row passes an unknown field.
  it.each(withBody)('%s refuses an unknown field and points at it', async (_, contract) => {
    const answer = await send(contract, { 'no/such~field': 1 });
    expectPointers(answer);
    expect(answer.body.errors?.map(({ pointer }) => pointer)).toContain('/no~1such~0field');
  });

  it.each(withBody)('%s points at each field of a wrong type and never answers 5xx', async (_, contract) => {
    if (!(contract.body instanceof z.ZodObject)) throw new Error('a body is an object');
    for (const [name, type] of Object.entries(contract.body.shape)) {
      for (const value of WRONG) {
        const answer = await send(contract, { [name]: value });
        expect(answer.status).toBeLessThan(500);
        const isUnfit = (type as z.ZodType).safeParse(value).success === false;
        if (!isUnfit) continue;
        expectPointers(answer);
        expect(answer.body.errors?.some(({ pointer }) => pointer.startsWith(`/${name}`))).toBe(true);
      }
    }
  });

  it.each(withBody)('%s refuses bodies that are no object', async (_, contract) => {
    for (const body of [null, [], 'text', 5, true]) expectPointers(await send(contract, body));
  });

  it('survives any JSON on any route', async () => {
    const anyRoute = fc.constantFrom(...all.map(([, contract]) => contract));
    await fc.assert(
      fc.asyncProperty(anyRoute, fc.jsonValue({ maxDepth: 4 }), async (contract, body) => {
        const answer = await send(contract, body);
        expect(answer.status).toBeLessThan(500);
      }),
      { numRuns: 400 },
    );
  });

  // Mutation: hand fastify's own error on, and a person is not told which part is meant.
  it('says that it is the JSON body that cannot be parsed', async () => {
    expect(await api.call('POST', '/v1/tiers', { rawBody: '{bad' })).toMatchObject({ status: 400, body: { code: 'malformed', detail: 'The JSON body cannot be parsed' } });
  });

  it('refuses nesting that would exhaust the stack', async () => {
    const answer = await api.call('POST', '/v1/tiers', { rawBody: `{"name":${'['.repeat(60_000)}${']'.repeat(60_000)}}` });
    expectPointers(answer);
  });

  it('refuses members where a route takes no body', async () => {
    expectPointers(await api.call('POST', '/v1/tiers/some-tier/archive', { body: { force: true } }));
  });
});

describe('bad paths and queries', () => {
  it.each(all.filter(([, { params }]) => params !== undefined))('%s points at a malformed path member', async (_, contract) => {
    for (const value of ['UPPER', 'a%00b', 'x'.repeat(500), '%F0%9F%98%80']) {
      const path = contract.path.replace(/\{\w+\}/, value);
      const answer = await api.call(contract.method, path, { headers: { 'if-match': '"1"' } });
      expect(answer.status).toBe(422);
      expect(answer.body.errors?.some(({ pointer }) => pointer.startsWith('/path/'))).toBe(true);
    }
  });

  it.each(all.filter(([, { method }]) => method === 'GET'))('%s refuses an unknown query member and wrong values of its own', async (_, contract) => {
    const answer = await api.call('GET', `${pathOf(contract)}?surprise=1`);
    expect(answer.body.errors?.map(({ pointer }) => pointer)).toContain('/query/surprise');
    for (const name of Object.keys(contract.query?.shape ?? {})) {
      for (const value of ['', 'UPPER', '-1', '1e9', '%00', '%ED%A0%80', 'a&' + name + '=b', '[]']) {
        expect((await api.call('GET', `${pathOf(contract)}?${name}=${value}`)).status).toBeLessThan(500);
      }
    }
  });

  // Mutation: read a cursor without unstorableText, or let `instant` take any year, and Postgres refuses what passed.
  it.each(lists)('%s answers a cursor it did not give out by its pointer, whatever is in it', async (_, contract) => {
    for (const key of [['a\u0000b'], ['\ud800'], [2 ** 31], [0], ['0000-01-01T00:00:00Z', UUID], ['9999-12-31T23:59:59-23:59', UUID], ['a\u0000', '2026', 'm'], null]) {
      const cursor = Buffer.from(JSON.stringify(key)).toString('base64url');
      const answer = await api.call('GET', `${pathOf(contract)}?cursor=${cursor}`);
      expect({ key, status: answer.status, pointers: answer.body.errors?.map(({ pointer }) => pointer) }).toEqual({ key, status: 422, pointers: ['/query/cursor'] });
    }
  });

  it.each(['0000-01-01T00:00:00Z', '1969-12-31T23:59:59.999Z', '9999-12-31T23:59:59-23:59'])('refuses %s, which no store here can keep', async (instant) => {
    expectPointers(await api.call('GET', `/v1/audit?from=${encodeURIComponent(instant)}`));
    expectPointers(await api.call('POST', '/v1/tokens', { body: { name: 'late', scopes: ['usage:read'], binding: { kind: 'platform' }, expiresAt: instant } }));
  });
});
