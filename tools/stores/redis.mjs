// One Redis server on 127.0.0.1: chosen or free port, with or without persistence.
import { mkdirSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './ports.mjs';
import { findRedisBinary } from './redis-binary.mjs';
import { signalQuietly, spawnServer, stopProcess } from './server-process.mjs';

const READY_LIMIT_MS = 20_000;
const STOP_LIMIT_MS = 10_000;

/**
 * @typedef {object} RedisOptions
 * @property {number} [port] a free one when left out
 * @property {string} [dataDir] where it keeps its files; the system's temporary folder when left out
 * @property {boolean} [isDurable] writes an append-only file to dataDir, so that counters survive a restart
 * @property {string} [password]
 * @property {string[]} [config] further lines of redis.conf
 * @property {number} [logFd] an open file for what it prints
 */

/**
 * @typedef {object} RedisServer
 * @property {string} url
 * @property {number} port
 * @property {number} pid
 * @property {() => boolean} hasExited
 * @property {Promise<void>} exited
 * @property {() => Promise<void>} stop
 * @property {(signal?: NodeJS.Signals) => void} kill
 * @property {import('node:child_process').ChildProcess} child
 */

/**
 * @param {RedisOptions} [options]
 * @returns {Promise<RedisServer>} answering
 * @throws {Error} no server can be had, the chosen port is taken, or it did not answer within 20 s
 */
export async function startRedisServer(options = {}) {
  const binary = await findRedisBinary();
  if (options.dataDir) mkdirSync(options.dataDir, { recursive: true, mode: 0o700 });
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port || (await freePort());
    const server = await spawnServer(binary.command, ['-'], { env: binary.env, stdin: redisConfig(port, options), logFd: options.logFd });
    const failure = await untilReady(server, port, options.password);
    if (failure === undefined) return redisServer(server, port, options.password);
    signalQuietly(server.pid, 'SIGKILL');
    // Somebody took the free port first; a chosen port gets no second try.
    if (options.port || attempt === 5) throw new Error(failure);
  }
}

/**
 * The whole configuration goes in on standard input: a password in the arguments would be visible to every user.
 * @param {number} port
 * @param {RedisOptions} options
 */
function redisConfig(port, options) {
  const lines = [
    'bind 127.0.0.1',
    `port ${port}`,
    `dir "${options.dataDir ?? tmpdir()}"`,
    'maxmemory-policy noeviction',
    'save ""',
    `appendonly ${options.isDurable ? 'yes' : 'no'}`,
    ...(options.password ? [`requirepass ${options.password}`] : []),
    ...(options.config ?? []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/**
 * @param {import('./server-process.mjs').ServerProcess} server
 * @param {number} port
 * @param {string | undefined} password
 * @returns {Promise<string | undefined>} why it is not ready
 */
async function untilReady(server, port, password) {
  const until = performance.now() + READY_LIMIT_MS;
  while (performance.now() < until) {
    if (server.hasExited()) return `Redis did not start on port ${port}: ${server.output().trim().split('\n').at(-1) || 'see its log'}`;
    const info = await askInfo(port, password);
    // The port may be answered by somebody else's Redis while ours is still failing to bind it.
    if (info.includes(`process_id:${server.pid}\r`) && info.includes('\nloading:0')) return undefined;
    await sleep(5);
  }
  return `Redis did not answer on port ${port} within ${READY_LIMIT_MS / 1000} s`;
}

/**
 * @param {number} port
 * @param {string | undefined} password
 * @returns {Promise<string>} the reply of INFO, or '' when there is none
 */
function askInfo(port, password) {
  return new Promise((resolve) => {
    let reply = '';
    const socket = createConnection({ port, host: '127.0.0.1' });
    socket.setTimeout(1_000, () => socket.destroy());
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => (reply += String(chunk)));
    socket.on('close', () => resolve(reply));
    socket.end(`${password ? `AUTH ${password}\r\n` : ''}INFO\r\nQUIT\r\n`);
  });
}

/**
 * @param {import('./server-process.mjs').ServerProcess} server
 * @param {number} port
 * @param {string | undefined} password
 * @returns {RedisServer}
 */
function redisServer(server, port, password) {
  return {
    url: `redis://${password ? `:${password}@` : ''}127.0.0.1:${port}`,
    port,
    pid: server.pid,
    child: server.child,
    hasExited: server.hasExited,
    exited: server.exited,
    kill: (signal = 'SIGKILL') => signalQuietly(server.pid, signal),
    stop: async () => {
      if (server.hasExited()) return;
      // A server stopped by SIGSTOP would not hear the SIGTERM.
      signalQuietly(server.pid, 'SIGCONT');
      await stopProcess(server.pid, 'SIGTERM', STOP_LIMIT_MS);
    },
  };
}
