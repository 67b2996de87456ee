import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { freePort, startRedis } from '@quotaplane/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const LISTENING = 'echo listens on';

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

// Each test starts processes; a busy machine takes its time with them.
describe('the echo process', { timeout: 60_000 }, () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'quotaplane-echo-'));
    const call = { input: { main: join(ROOT, 'apps/echo/src/main.ts') }, tsconfig: join(ROOT, 'apps/echo/tsconfig.json'), outDir: folder };
    const script = `const { bundle } = await import(${JSON.stringify(pathToFileURL(join(ROOT, 'tools/build.mjs')).href)}); await bundle(${JSON.stringify(call)});`;
    execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: ROOT });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const launch = (env: NodeJS.ProcessEnv): { child: ChildProcess; ended: Promise<Ended>; listening: Promise<void> } => {
    const child = spawn(process.execPath, [join(folder, 'main.mjs')], { env: { PATH: process.env['PATH'], ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const listening = new Promise<void>((resolve) => {
      const take = (bytes: Buffer): void => {
        output += bytes.toString();
        if (output.includes(LISTENING)) resolve();
      };
      child.stdout.on('data', take);
      child.stderr.on('data', take);
    });
    const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, output })));
    return { child, ended, listening };
  };

  it('ends with one clear line where a setting is wrong or its port is taken', async () => {
    const none = await launch({}).ended;
    expect(none).toEqual({ code: 1, output: expect.stringMatching(/^echo: set REDIS_URL .*\n$/) });
    const badPort = await launch({ REDIS_URL: 'redis://127.0.0.1:1', ECHO_PORT: '70000' }).ended;
    expect(badPort.output).toMatch(/^echo: ECHO_PORT must be a port from 0 to 65535, not 70000\n$/);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
    const { port } = server.address() as AddressInfo;
    const taken = await launch({ REDIS_URL: 'redis://127.0.0.1:1', ECHO_PORT: String(port) }).ended;
    server.close();
    expect(taken.code).toBe(1);
    expect(taken.output).toContain(`echo: port ${port} is taken; set ECHO_PORT to a free one\n`);
    expect(taken.output).not.toMatch(/\n {4}at /);
  });

  it('starts without its store and serves on default limits', async () => {
    const port = await freePort();
    const { child, ended, listening } = launch({ REDIS_URL: 'redis://127.0.0.1:1', ECHO_PORT: String(port) });
    await listening;
    const answer = await fetch(`http://127.0.0.1:${port}/echo`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('ratelimit-source')).toBe('default');
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
  });

  it('drains on SIGTERM: the call under way ends, the node leaves the list, exit code 0', async () => {
    const redis = await startRedis();
    const port = await freePort();
    const { child, ended, listening } = launch({ QUOTAPLANE_GUARD_REDIS_URL: redis.url, REDIS_URL: 'redis://127.0.0.1:1', ECHO_PORT: String(port) });
    await listening;
    const client = new Redis(redis.url);
    expect(await client.hlen('qp:nodes')).toBe(1);
    const stream = fetch(`http://127.0.0.1:${port}/stream?ms=1000`).then((answer) => answer.text());
    await new Promise((resolve) => setTimeout(resolve, 200));
    const startedAt = performance.now();
    child.kill('SIGTERM');
    expect(await stream).toBe('begin\nend\n');
    expect((await ended).code).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(await client.hlen('qp:nodes')).toBe(0);
    const [journal] = await client.smembers('qp:journals');
    expect(await client.hget(`qp:journal:${journal}`, '#closed')).toBe('1');
    client.disconnect();
    await redis.stop();
  });

  it('ends within 10 s on SIGTERM although its store hangs and a call is under way', async () => {
    const redis = await startRedis();
    const port = await freePort();
    const { child, ended, listening } = launch({ REDIS_URL: redis.url, ECHO_PORT: String(port) });
    await listening;
    redis.pause();
    const stream = fetch(`http://127.0.0.1:${port}/stream?ms=30000`).then((answer) => answer.text()).catch(() => 'cut');
    await new Promise((resolve) => setTimeout(resolve, 200));
    const startedAt = performance.now();
    child.kill('SIGTERM');
    const { code } = await ended;
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(code).toBe(0);
    expect(await stream).toBe('cut');
    redis.resume();
    await redis.stop();
  });
});
