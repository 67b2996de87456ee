#!/usr/bin/env node
/**
 * Proves the published guard where its users meet it: packs it, installs the tarball into services outside the workspace, type-checks and starts each
 * against a real Redis, and asserts that it enforces. Prints `{"passed":n,"failed":n,"skipped":[]}` as its last line; exit code 1 when one failed.
 *
 * A consumer whose packages the registry does not hand out is skipped, by name. Usage: `node tools/packed-consumers.mjs [--keep]`; `--keep` leaves the folders.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundle } from './build.mjs';
import { buildGuard, packGuard } from './build-guard.mjs';
import { ROOT } from './build-inputs.mjs';
import { startRedisServer } from './stores/index.mjs';

const run = promisify(execFile);
const CONSUMERS = ['nest12-fastify-esm', 'nest11-express-cjs', 'plain-express-esm'];
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
const START_WAIT_MS = 20_000;
const KEY = { 'X-Api-Key': 'demo-consumer' };
/** npm's words for a registry that cannot be reached or lacks the package; anything else is a failure. */
const REGISTRY_FAULTS = /ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|ENOTCACHED|E404|ETARGET/;

const workDir = mkdtempSync(join(tmpdir(), 'quotaplane-consumers-'));
const totals = { passed: 0, failed: 0, skipped: [] };
try {
  const tarball = await packGuard(await buildGuard(join(workDir, 'guard')));
  const publish = await bundlePublisher();
  for (const name of CONSUMERS) await check(name, tarball, publish);
} catch (error) {
  report('the packed guard', error);
} finally {
  if (!process.argv.includes('--keep')) rmSync(workDir, { recursive: true, force: true });
}
console.log(JSON.stringify(totals));
process.exitCode = totals.failed > 0 ? 1 : 0;

async function check(name, tarball, publish) {
  const folder = join(workDir, name);
  cpSync(join(ROOT, 'tools/consumers', name), folder, { recursive: true });
  if (!(await install(name, folder, tarball))) return;
  if (name.startsWith('plain')) await step(`${name} needs no Nest`, async () => assert.equal(existsSync(join(folder, 'node_modules/@nestjs')), false));
  await step(`${name} type-checks and compiles`, () => run(process.execPath, [TSC, '-p', folder]));
  const redis = await startRedisServer({ dataDir: mkdtempSync(join(workDir, 'redis-')) });
  try {
    await run(process.execPath, [publish], { env: { ...process.env, REDIS_URL: redis.url } });
    await step(`${name} enforces`, () => enforce(folder, redis.url));
  } finally {
    await redis.stop();
  }
}

/** @returns false when the consumer is skipped or could not be installed */
async function install(name, folder, tarball) {
  try {
    await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', tarball], { cwd: folder });
    return true;
  } catch (error) {
    const text = `${error.stderr ?? ''}${error.message}`;
    const fault = REGISTRY_FAULTS.exec(text)?.[0];
    if (fault) totals.skipped.push(`packed consumer ${name}: npm install answered ${fault}`);
    else report(`${name} installs`, error);
    return false;
  }
}

async function enforce(folder, redisUrl) {
  const service = spawn(process.execPath, ['dist/main.js'], { cwd: folder, env: { ...process.env, REDIS_URL: redisUrl, PORT: '0' }, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const url = await listening(service);
    // 20 units: a search of 10, a bulk of 3, seven of 1.
    assert.equal((await fetch(`${url}/orders`, { headers: KEY })).headers.get('ratelimit-remaining'), '10');
    assert.equal((await create(url, 3)).headers.get('ratelimit-remaining'), '7');
    for (let call = 0; call < 7; call += 1) assert.equal((await create(url, 1)).status, 201);
    const denied = await create(url, 1);
    assert.equal(denied.status, 429);
    assert.match(denied.headers.get('content-type') ?? '', /^application\/problem\+json/);
    assert.equal(denied.headers.get('ratelimit-policy'), '"per-minute";q=1;w=60;qp-burst=20');
    assert.ok(Number(denied.headers.get('retry-after')) >= 1);
    assert.equal(denied.headers.get('ratelimit-source'), null);
    assert.equal((await denied.json()).code, 'rate_limited');
    assert.equal((await fetch(`${url}/orders`, { headers: { 'X-Api-Key': 'nonsense' } })).status, 401);
  } finally {
    const ended = new Promise((resolve) => service.once('close', resolve));
    service.kill('SIGTERM');
    await ended;
  }
}

function create(url, count) {
  const body = JSON.stringify({ items: Array.from({ length: count }, () => 'item') });
  return fetch(`${url}/orders`, { method: 'POST', headers: { ...KEY, 'content-type': 'application/json' }, body });
}

function listening(service) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the service did not start in time')), START_WAIT_MS);
    let output = '';
    service.stdout.on('data', (bytes) => {
      output += bytes;
      const [, url] = /listening (\S+)/.exec(output) ?? [];
      if (!url) return;
      clearTimeout(timer);
      resolve(url.replace('[::1]', '127.0.0.1'));
    });
    service.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`the service ended with code ${code}: ${output}`));
    });
  });
}

/** The engine's own publisher, so that the consumer reads what the platform writes. */
async function bundlePublisher() {
  const outDir = join(workDir, 'publish');
  await bundle({ input: { publish: join(ROOT, 'tools/consumers/publish-policy.ts') }, tsconfig: join(ROOT, 'tools/tsconfig.json'), outDir });
  symlinkSync(join(ROOT, 'node_modules'), join(outDir, 'node_modules'));
  return join(outDir, 'publish.mjs');
}

async function step(name, work) {
  try {
    await work();
    totals.passed += 1;
    console.log(`passed  ${name}`);
  } catch (error) {
    report(name, error);
  }
}

function report(name, error) {
  totals.failed += 1;
  console.error(`FAILED  ${name}\n${error.stdout ?? ''}${error.stderr ?? ''}${error.stack ?? error}`);
}
