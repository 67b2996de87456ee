import { connect, type AddressInfo } from 'node:net';
import { ERROR_CODES, openApiDocument } from '@quotaplane/contracts';
import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSpecApp, type SpecApp } from './spec-app';

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

describe('refusals before a handler', () => {
  // Mutation: drop the ProblemFilter provider and these come in the framework's own form.
  it.each([
    ['unparsable JSON', { rawBody: '{"slug":' }, 'malformed'],
    ['a body over 256 kB', { rawBody: JSON.stringify({ name: 'x'.repeat(300_000) }) }, 'body_too_large'],
    ['another media type', { rawBody: 'slug=a', headers: { 'content-type': 'application/x-www-form-urlencoded' } }, 'unsupported_media_type'],
    ['a planted prototype', { rawBody: '{"__proto__":{"x":1}}' }, 'malformed'],
  ] as const)('answers %s as a problem', async (_, request, code) => {
    const answer = await api.call('POST', '/v1/tiers', request);
    expect(answer).toMatchObject({ status: ERROR_CODES[code].status, body: { code, status: ERROR_CODES[code].status } });
    expect(answer.headers['content-type']).toContain('application/problem+json');
    expect(answer.body.requestId).toBe(answer.headers['x-request-id']);
  });

  it.each([['/v1/nothing'], ['/v1'], ['/v1/%'], ['/nothing']])('answers the unknown path %s as a problem', async (path) => {
    const answer = await api.call('GET', path);
    expect([400, 404]).toContain(answer.status);
    expect(answer.headers['content-type']).toContain('application/problem+json');
    expect(answer.headers['x-request-id']).toBeTruthy();
  });

  it('answers a wrong method as a problem', async () => {
    expect(await api.call('PUT', '/v1/tiers', { body: {} })).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  // Mutation: drop clientErrorHandler and these come in the framework's own form.
  it.each(['GARBAGE\r\n\r\n', `GET /v1/tiers HTTP/1.1\r\nHost: a\r\nX-Big: ${'x'.repeat(20_000)}\r\n\r\n`])('answers what is no request as a problem: %#', async (message) => {
    const server = api.app.getHttpServer();
    if (!server.listening) await api.app.listen(0, '127.0.0.1');
    const { port } = server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1', () => socket.write(message));
    // Headers that are cut off end in a reset behind the answer.
    socket.on('error', () => undefined);
    let answer = '';
    socket.on('data', (bytes) => (answer += bytes.toString()));
    await new Promise((resolve) => socket.once('close', resolve));
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toContain('application/problem+json');
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ status: 400, code: 'malformed' });
  });

  it('keeps the caller\'s own request id when it is a plain one', async () => {
    expect((await api.call('GET', '/v1/tiers', { headers: { 'x-request-id': 'trace-1.2' } })).headers['x-request-id']).toBe('trace-1.2');
    expect((await api.call('GET', '/v1/tiers', { headers: { 'x-request-id': 'a b"' } })).headers['x-request-id']).not.toBe('a b"');
  });
});

describe('the open routes', () => {
  it('serves the document that the contract makes', async () => {
    expect((await api.call('GET', '/openapi.json', { token: null })).body).toEqual(JSON.parse(JSON.stringify(openApiDocument())));
  });

  it('serves docs without script and under a policy without inline exemption', async () => {
    const page = await api.call('GET', '/docs', { token: null });
    expect(page).toMatchObject({ status: 200 });
    expect(page.text).not.toMatch(/<script|style=/);
    expect(page.headers['content-security-policy']).not.toContain('unsafe');
  });

  it('tells live, ready and metrics', async () => {
    expect((await api.call('GET', '/health/live', { token: null })).status).toBe(200);
    expect((await api.call('GET', '/health/ready', { token: null })).body.checks).toMatchObject({ postgres: 'ok', redis: 'ok' });
    expect((await api.call('GET', '/metrics', { token: null })).text).toContain('quotaplane_api_request_duration_seconds');
  });
});

describe('versions', () => {
  it('gives a fresh tier an empty draft with an ETag', async () => {
    expect(await api.call('POST', '/v1/tiers', { body: { slug: 'fresh', name: 'Fresh' } })).toMatchObject({ status: 201, headers: { etag: '"1"' } });
    expect(await api.call('GET', '/v1/tiers/fresh/draft')).toMatchObject({ status: 200, headers: { etag: '"0"' }, body: { content: { limits: [], quotas: [] } } });
  });

  // Mutation: default a missing If-Match to the version found and the 428 row passes with 200.
  it.each([
    [undefined, 428, 'version_required'],
    ['3', 400, 'malformed'],
    ['*', 400, 'malformed'],
    ['W/"1"', 400, 'malformed'],
    ['"1", "2"', 400, 'malformed'],
    ['"7"', 412, 'version_conflict'],
    ['"999999999999999"', 412, 'version_conflict'],
  ])('answers If-Match %s with %i', async (header, status, code) => {
    const answer = await api.call('PATCH', '/v1/tiers/fresh', { body: { name: 'Other' }, headers: header === undefined ? {} : { 'if-match': header } });
    expect(answer).toMatchObject({ status, body: { code } });
  });
});
