import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startSpecApp, type SpecAnswer, type SpecApp } from './spec-app';

let postgres: TestPostgres;
let redis: TestRedis;
let api: SpecApp;
const folder = mkdtempSync(join(tmpdir(), 'quotaplane-console-'));
beforeAll(async () => {
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<head><meta name="csp-nonce" content="" /></head><script type="module" src="/assets/a-1234.js"></script>');
  writeFileSync(join(folder, 'assets/a-1234.js'), 'export {};');
  writeFileSync(join(folder, 'logo.svg'), '<svg/>');
  [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  api = await startSpecApp({ databaseUrl: postgres.url, redisUrl: redis.url }, { env: { QUOTAPLANE_CONSOLE_DIR: folder } });
});
afterAll(async () => {
  await api?.stop();
  await Promise.all([postgres?.stop(), redis?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

const page = (path: string): Promise<SpecAnswer> => api.call('GET', path, { token: null, headers: { accept: 'text/html,*/*' } });

it.each([['/'], ['/tenants/acme'], ['/index.html'], ['/tenants?q=a.b']])('serves the console for %s with a fresh nonce', async (path) => {
  const [first, second] = [await page(path), await page(path)];
  expect(first.status).toBe(200);
  const nonce = /content="([^"]{20,})"/.exec(first.text)?.[1] ?? '';
  expect(first.headers['content-security-policy']).toContain(`style-src 'self' 'nonce-${nonce}'`);
  expect(first.headers['content-security-policy']).not.toContain('unsafe');
  expect(first.headers['content-security-policy']).toContain("frame-ancestors 'none'");
  expect(second.text).not.toContain(nonce);
});

it('lets hashed files be kept for ever and others be asked for', async () => {
  expect(await page('/assets/a-1234.js')).toMatchObject({ status: 200, text: 'export {};', headers: { 'cache-control': 'public, max-age=31536000, immutable', 'content-type': expect.stringContaining('javascript') } });
  expect(await page('/logo.svg')).toMatchObject({ status: 200, headers: { 'cache-control': 'no-cache' } });
});

// Mutation: serve index.html for everything and a script tag gets HTML, an API client a page.
it.each([['/assets/gone.js'], ['/v1/nothing'], ['/v1'], ['/../package.json'], ['/..%2fpackage.json'], ['/health/x']])('answers %s by a problem', async (path) => {
  const answer = await page(path);
  expect(answer.headers['content-type']).toContain(path.startsWith('/..') ? '' : 'application/problem+json');
  expect(answer.text).not.toContain('"name": "quotaplane"');
});

it('gives a program no page for an unknown path', async () => {
  expect((await api.call('GET', '/tenants/acme', { headers: { accept: 'application/json' } })).status).toBe(404);
});
