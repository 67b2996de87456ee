import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { loadSettingsFile } from './bootstrap-settings.mjs';
import { isAlive } from './stores/index.mjs';

// Stand-ins with the agreed entry points: this spec is about starting and stopping, not about the product.
const SERVER = (port: string) => `import { createServer } from 'node:http';
const server = createServer((request, response) => { if (request.url === '/die') process.exit(3); response.end('ok'); });
server.listen(Number(process.env.${port}), '127.0.0.1');`;
const ON_TERM = `process.on('SIGTERM', async () => {
  const { createConnection } = await import('node:net');
  const { hostname, port } = new URL(process.env.REDIS_URL);
  createConnection({ host: hostname, port }, () => { console.log('Redis was still there'); process.exit(0); });
});`;
const ENTRIES = {
  'api/seed.mjs': `console.log('seeded ' + process.env.QUOTAPLANE_ADMIN_EMAIL);`,
  'api/main.mjs': `${SERVER('PORT')} ${ON_TERM}`,
  'api/worker.mjs': `setInterval(() => undefined, 1000); ${ON_TERM}`,
  'echo/main.mjs': `if (!process.env.QUOTAPLANE_GUARD_REDIS_URL.startsWith('redis://quotaplane-guard:')) process.exit(4); ${SERVER('ECHO_PORT')} ${ON_TERM}`,
};

let home: string;
let dataDir: string;
const running = new Set<ChildProcess>();

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'quotaplane-start-'));
  // Root's Postgres runs as another user, who must be able to pass.
  chmodSync(home, 0o711);
  dataDir = join(home, 'data');
  for (const [entry, source] of Object.entries(ENTRIES)) {
    mkdirSync(join(home, 'dist', entry, '..'), { recursive: true });
    writeFileSync(join(home, 'dist', entry), source);
  }
});

afterEach(async () => {
  for (const child of running) if (child.exitCode === null && child.signalCode === null) await end(child, 'SIGTERM');
  running.clear();
});

afterAll(() => rmSync(home, { recursive: true, force: true }));

interface Run {
  child: ChildProcess;
  output(): string;
}

function launch(env: NodeJS.ProcessEnv = {}): Run {
  const { DATABASE_URL: _, REDIS_URL: __, ...rest } = process.env;
  const child = spawn(process.execPath, [fileURLToPath(new URL('start.mjs', import.meta.url))], {
    env: { ...rest, QUOTAPLANE_DIST_DIR: join(home, 'dist'), QUOTAPLANE_DATA_DIR: dataDir, PORT: '0', ECHO_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (bytes) => (output += String(bytes)));
  return { child, output: () => output };
}

async function untilReady(run: Run): Promise<void> {
  while (!/^ready$/m.test(run.output())) {
    if (run.child.exitCode !== null) throw new Error(run.output());
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const exited = once(child, 'exit');
  child.kill(signal);
  return ((await exited) as [number | null])[0];
}

function startedPids(): number[] {
  const record = JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as { appStamps: string[]; redisStamp: string; postgresStamp: string };
  return [...record.appStamps, record.redisStamp, record.postgresStamp].map((stamp) => Number.parseInt(stamp, 10));
}

const log = (name: string) => readFileSync(join(dataDir, 'logs', `${name}.log`), 'utf8');

it('comes up, shows a generated password once, and stops the apps before the stores', async () => {
  const first = launch();
  await untilReady(first);
  expect(first.output()).toMatch(
    /^Quotaplane http:\S+ as admin@example.com \/ \S{24}, echo http:\S+, API docs http:\S+\/docs\nThe password is shown this once and kept in .*\nREDIS_URL for your own services: see .*\nready\n$/,
  );
  expect(readFileSync(join(dataDir, 'redis-url'), 'utf8')).toMatch(/^redis:\/\/\S+@127\.0\.0\.1:\d+\n$/);
  expect(statSync(join(dataDir, 'redis-url')).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(dataDir, 'guard-redis-url'), 'utf8')).toMatch(/^redis:\/\/quotaplane-guard:\S+@127\.0\.0\.1:\d+\n$/);
  expect(statSync(join(dataDir, 'guard-redis-url')).mode & 0o777).toBe(0o600);
  expect(statSync(join(dataDir, 'secrets/redis-guard-password')).mode & 0o777).toBe(0o600);
  expect(statSync(join(dataDir, 'secrets/admin-password')).mode & 0o777).toBe(0o600);
  expect(statSync(join(dataDir, 'secrets/bootstrap-token')).mode & 0o777).toBe(0o600);
  const guard = new Redis(readFileSync(join(dataDir, 'guard-redis-url'), 'utf8').trim());
  await expect(guard.set('qp:{acme}:head', '1.1')).rejects.toThrow('NOPERM');
  expect(await guard.set('qp:{acme}:c:x', '1')).toBe('OK');
  guard.disconnect();
  const pids = startedPids();
  expect(pids).toHaveLength(5);
  expect(await end(first.child, 'SIGTERM')).toBe(0);
  expect(pids.filter(isAlive)).toEqual([]);
  expect([log('api-main'), log('api-worker'), log('echo-main')]).toEqual(Array(3).fill('Redis was still there\n'));
  expect(existsSync(join(dataDir, 'start.lock'))).toBe(false);
  expect(first.output()).toMatch(/\nStopping \(SIGTERM\); once more to force\.\nStopped\.\n$/);

  const second = launch({ QUOTAPLANE_ADMIN_EMAIL: 'ops@example.com' });
  await untilReady(second);
  expect(second.output()).toMatch(/ as ops@example\.com, echo .*\nSign in with the password kept in /);
});

it('stops cleanly when one Ctrl-C reaches the whole group and comes twice', async () => {
  const run = launch();
  await untilReady(run);
  const pids = startedPids();
  const exited = once(run.child, 'exit');
  process.kill(-Number(run.child.pid), 'SIGINT');
  run.child.kill('SIGINT');
  expect((await exited)[0]).toBe(0);
  expect(pids.filter(isAlive)).toEqual([]);
  expect(log('api-worker')).toBe('Redis was still there\n');
});

it('starts again at once after kill -9', async () => {
  const killed = launch();
  await untilReady(killed);
  const pids = startedPids();
  await end(killed.child, 'SIGKILL');
  const run = launch();
  await untilReady(run);
  expect(pids.filter(isAlive)).toEqual([]);
});

it('names the process that died, stops everything else and exits with 1', async () => {
  const run = launch();
  await untilReady(run);
  const pids = startedPids();
  const exited = once(run.child, 'exit');
  await fetch(`${/http:\S+\d/.exec(run.output())?.[0]}/die`).catch(() => undefined);
  expect((await exited)[0]).toBe(1);
  expect(run.output()).toMatch(/^The API ended by exit code 3.*Everything is stopped\.$/m);
  expect(pids.filter(isAlive)).toEqual([]);
});

it('starts an embedded Redis that was killed again on its port, and stops that one too', async () => {
  const run = launch();
  await untilReady(run);
  const redis = (): { redisStamp: string; redisUrl: string } => JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as { redisStamp: string; redisUrl: string };
  const before = redis();
  process.kill(Number.parseInt(before.redisStamp, 10), 'SIGKILL');
  await expect.poll(() => run.output(), { timeout: 10_000 }).toMatch(/^Redis ended unexpectedly\..*\nRedis is back\.$/m);
  await expect.poll(() => redis().redisStamp).not.toBe(before.redisStamp);
  expect(redis().redisUrl).toBe(before.redisUrl);
  const pids = startedPids();
  expect(await end(run.child, 'SIGTERM')).toBe(0);
  expect(pids.filter(isAlive)).toEqual([]);
});

it('refuses a second start on the same data', async () => {
  const run = launch();
  await untilReady(run);
  await refused(launch(), /^Quotaplane is already running from .* \(process \d+\)\. .*\n$/);
});

it('takes variables of a file .env, and those that are set already win', () => {
  writeFileSync(join(home, '.env'), 'SPEC_FROM_FILE=file\nSPEC_SET_BEFORE=file\n');
  process.env['SPEC_SET_BEFORE'] = 'shell';
  loadSettingsFile(home);
  expect([process.env['SPEC_FROM_FILE'], process.env['SPEC_SET_BEFORE']]).toEqual(['file', 'shell']);
  loadSettingsFile(join(home, 'nowhere'));
});

it('says each mistake of the environment in one line', async () => {
  const squatter = createServer().listen(0, '127.0.0.1');
  await once(squatter, 'listening');
  const { port } = squatter.address() as AddressInfo;
  await refused(launch({ PORT: String(port) }), new RegExp(`^Port ${port} is taken\\. .*set PORT to a free port\\.\n$`));
  squatter.close();
  await refused(launch({ ECHO_PORT: '70000' }), /^ECHO_PORT must be a whole number from 0 to 65535, not "70000"\.?\n$/);
  await refused(launch({ DATABASE_URL: 'postgresql://me:hush@127.0.0.1:1/x' }), /^Nothing usable answers at 127\.0\.0\.1:1\/x .*Correct DATABASE_URL.*\n$/);
  await refused(launch({ REDIS_URL: 'redis://127.0.0.1:1' }), /^Nothing usable answers at 127\.0\.0\.1:1 .*Correct REDIS_URL.*\n$/);
});

async function refused(run: Run, message: RegExp): Promise<void> {
  const [code] = await once(run.child, 'close');
  expect(run.output()).toMatch(message);
  expect(run.output()).not.toContain('hush');
  expect(code).toBe(1);
}
