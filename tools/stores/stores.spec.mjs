import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort, isAlive, isPortFree, parsePort, startPostgresServer, startRedisServer } from './index.mjs';

const STORES = new URL('./index.mjs', import.meta.url).href;
let folder;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'quotaplane-stores-'));
  // Root's Postgres runs as another user, who must be able to pass.
  chmodSync(folder, 0o711);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function ask(url, sql) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

async function untilGone(pid) {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 10));
}

it('keeps the counters of a durable Redis across kill -9', async () => {
  const options = { dataDir: join(folder, 'redis'), isDurable: true, password: 'secret-word', config: ['appendfsync always'] };
  const first = await startRedisServer(options);
  const client = new Redis(first.url);
  client.on('error', () => undefined);
  await client.incrby('count', 7);
  client.disconnect();
  first.kill();
  await first.exited;
  const second = await startRedisServer(options);
  const again = new Redis(second.url);
  expect(await again.get('count')).toBe('7');
  again.disconnect();
  await second.stop();
});

it('refuses a Redis client without the password and names no password in the arguments', async () => {
  const server = await startRedisServer({ password: 'secret-word' });
  const client = new Redis({ port: server.port, retryStrategy: () => null });
  client.on('error', () => undefined);
  await expect(client.get('x')).rejects.toThrow('NOAUTH');
  expect(server.child.spawnargs.join(' ')).not.toContain('secret-word');
  client.disconnect();
  await server.stop();
});

it('starts Postgres again on its data after kill -9, and takes over from one left running', async () => {
  const options = { dataDir: join(folder, 'cluster'), password: 'secret-word' };
  const first = await startPostgresServer(options);
  await ask(first.url, 'CREATE TABLE kept AS SELECT 7 AS count');
  process.kill(first.pid, 'SIGKILL');
  await first.exited;
  const second = await startPostgresServer(options);
  expect(await ask(second.url, 'SELECT * FROM kept')).toEqual([{ count: 7 }]);
  const third = await startPostgresServer(options);
  await second.exited;
  expect(await ask(third.url, 'SELECT * FROM kept')).toEqual([{ count: 7 }]);
  await expect(ask(third.url.replace('secret-word', 'other'), 'SELECT 1')).rejects.toThrow('password');
  await third.stop();
});

it('says in one line that a chosen port is taken', async () => {
  const squatter = createServer().listen(0, '127.0.0.1');
  await once(squatter, 'listening');
  const { port } = squatter.address();
  await expect(startRedisServer({ port })).rejects.toThrow(new RegExp(`^Redis did not start on port ${port}: .*$`));
  squatter.close();
});

it('ends the servers of a starter that was killed, apps before stores', async () => {
  const script = `
    import { spawn } from 'node:child_process';
    import { startRedisServer, startWatchdog } from '${STORES}';
    const watchdog = startWatchdog();
    const redis = await startRedisServer();
    watchdog.addStore(redis.pid, 'SIGTERM');
    const app = spawn('sh', ['-c', 'trap "exit 0" TERM; while :; do sleep 0.05; done'], { detached: true, stdio: 'ignore' });
    watchdog.addApp(app.pid);
    console.log(JSON.stringify([redis.pid, app.pid]));
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), 50);`;
  const starter = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(starter.stdout, 'data');
  const pids = JSON.parse(String(line));
  expect(pids.every(isAlive)).toBe(true);
  await once(starter, 'exit');
  await Promise.all(pids.map(untilGone));
});

it('finds free ports and tells taken ones', async () => {
  const port = await freePort();
  expect(await isPortFree(port)).toBe(true);
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  expect(await isPortFree(port)).toBe(false);
  server.close();
});

it.each(['-1', '65536', '3000.5', '0x10', 'http', '1e3'])('refuses %s as a port', (text) => {
  expect(() => parsePort('PORT', text, 1)).toThrow(`PORT must be a whole number from 0 to 65535, not "${text}".`);
});

it('reads ports from 0 to 65535 and falls back when there is none', () => {
  expect([parsePort('PORT', '0', 1), parsePort('PORT', '65535', 1), parsePort('PORT', undefined, 1), parsePort('PORT', '', 1)]).toEqual([0, 65535, 1, 1]);

});
