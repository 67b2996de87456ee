// One embedded Postgres cluster on 127.0.0.1.
import { execFile } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, closeSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from './ports.mjs';
import { findPostgresBinary, reachableFolder } from './postgres-binary.mjs';
import { commandLine, isAlive, spawnServer, stopProcess } from './server-process.mjs';

const run = promisify(execFile);
const READY_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 20_000;
const FAST_AND_LOOSE = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_wal_size=4GB', 'autovacuum=off'];

/**
 * @typedef {object} PostgresOptions
 * @property {string} dataDir the cluster's folder; made and initialised when it holds no PG_VERSION
 * @property {number} [port] a free one when left out
 * @property {string} [password] of user postgres, set when the cluster is made; without one every local connection is trusted
 * @property {boolean} [isThrowaway] trades durability for speed: for tests only
 */

/**
 * @typedef {object} PostgresServer
 * @property {string} url of the database postgres
 * @property {number} port
 * @property {number} pid
 * @property {string} dataDir where the cluster really lies
 * @property {() => boolean} hasExited
 * @property {Promise<void>} exited
 * @property {() => Promise<void>} stop
 * @property {import('node:child_process').ChildProcess} child
 */

/**
 * @param {PostgresOptions} options
 * @returns {Promise<PostgresServer>} accepting connections
 * @throws {Error} no build for this platform, the chosen port is taken, or it did not start within 60 s
 */
export async function startPostgresServer(options) {
  const { bin, owner } = findPostgresBinary();
  const dataDir = reachableFolder(options.dataDir, owner);
  if (!existsSync(join(dataDir, 'PG_VERSION'))) await initialise(bin, owner, dataDir, options.password);
  await removeLeftOver(dataDir);
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port || (await freePort());
    const server = await spawnPostgres(bin, owner, dataDir, port, options.isThrowaway ?? false);
    const failure = await untilReady(server, dataDir, port);
    if (failure === undefined) return postgresServer(server, dataDir, port, options.password);
    await stopProcess(server.pid, 'SIGINT', 2_000);
    // A killed server's backends hold its shared memory for a moment, and a free port may be taken by another.
    if (attempt === 5 || (options.port && !failure.includes('shared memory'))) throw new Error(failure);
    await sleep(200);
  }
}

/**
 * @param {string} bin
 * @param {import('./postgres-binary.mjs').Owner | undefined} owner
 * @param {string} dataDir
 * @param {string | undefined} password
 */
async function initialise(bin, owner, dataDir, password) {
  const secretDir = mkdtempSync(join(tmpdir(), 'quotaplane-initdb-'));
  const passwordFile = join(secretDir, 'password');
  try {
    writeFileSync(passwordFile, `${password ?? 'unused'}\n`, { mode: 0o600 });
    if (owner) for (const path of [secretDir, passwordFile]) chownSync(path, owner.uid, owner.gid);
    const auth = password ? 'scram-sha-256' : 'trust';
    const flags = ['--username=postgres', `--auth=${auth}`, `--pwfile=${passwordFile}`, '--encoding=UTF8', '--locale=C', '--no-sync', '--no-instructions'];
    // PG_VERSION appears early, so a killed initdb would pass for a whole cluster: it works in a draft that is renamed at the end.
    const draft = `${dataDir}/draft`;
    rmSync(draft, { recursive: true, force: true });
    await run(join(bin, 'initdb'), [`--pgdata=${draft}`, ...flags], { ...owner, cwd: '/', env: cleanEnv() });
    rmSync(`${dataDir}.new`, { recursive: true, force: true });
    renameSync(draft, `${dataDir}.new`);
    rmSync(dataDir, { recursive: true });
    renameSync(`${dataDir}.new`, dataDir);
  } finally {
    rmSync(secretDir, { recursive: true, force: true });
  }
}

/**
 * @param {string} bin
 * @param {import('./postgres-binary.mjs').Owner | undefined} owner
 * @param {string} dataDir
 * @param {number} port
 * @param {boolean} isThrowaway
 */
async function spawnPostgres(bin, owner, dataDir, port, isThrowaway) {
  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=200',
    'log_timezone=UTC',
    'timezone=UTC',
    ...(isThrowaway ? FAST_AND_LOOSE : []),
  ];
  const logFd = openSync(logFile(dataDir), 'w', 0o600);
  try {
    const flags = ['-D', dataDir, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])];
    return await spawnServer(join(bin, 'postgres'), flags, { ...owner, cwd: '/', env: cleanEnv(), logFd });
  } finally {
    closeSync(logFd);
  }
}

/**
 * Stops the server that a killed starter left on this folder, or removes the pid file of one that is gone.
 * @param {string} dataDir
 */
async function removeLeftOver(dataDir) {
  const pid = Number(readPidFile(dataDir)[0]);
  if (!pid) return;
  // The pid may belong to another process by now, which Postgres would take for a running server.
  if (isAlive(pid) && commandLine(pid).includes(dataDir)) await stopProcess(pid, 'SIGINT', STOP_LIMIT_MS);
  rmSync(join(dataDir, 'postmaster.pid'), { force: true });
}

/**
 * @param {import('./server-process.mjs').ServerProcess} server
 * @param {string} dataDir
 * @param {number} port
 * @returns {Promise<string | undefined>} why it is not ready
 */
async function untilReady(server, dataDir, port) {
  const until = performance.now() + READY_LIMIT_MS;
  while (performance.now() < until) {
    // The last line of the pid file is the server's own word, which pg_ctl reads too.
    const lines = readPidFile(dataDir);
    if (Number(lines[0]) === server.pid && lines[7]?.trim() === 'ready') return undefined;
    if (server.hasExited()) return `Postgres did not start on port ${port}: ${lastLogLine(dataDir)} (log: ${logFile(dataDir)})`;
    await sleep(5);
  }
  return `Postgres did not start on port ${port} within ${READY_LIMIT_MS / 1000} s (log: ${logFile(dataDir)})`;
}

/**
 * @param {import('./server-process.mjs').ServerProcess} server
 * @param {string} dataDir
 * @param {number} port
 * @param {string | undefined} password
 * @returns {PostgresServer}
 */
function postgresServer(server, dataDir, port, password) {
  return {
    url: `postgresql://postgres${password ? `:${password}` : ''}@127.0.0.1:${port}/postgres`,
    port,
    pid: server.pid,
    dataDir,
    child: server.child,
    hasExited: server.hasExited,
    exited: server.exited,
    stop: async () => {
      if (server.hasExited()) return;
      // SIGINT is Postgres' fast shutdown; SIGTERM would wait for every client to leave.
      await stopProcess(server.pid, 'SIGINT', STOP_LIMIT_MS);
    },
  };
}

/** @param {string} dataDir */
function readPidFile(dataDir) {
  try {
    return readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return [];
  }
}

/** @param {string} dataDir */
function logFile(dataDir) {
  return join(dataDir, 'server.log');
}

/** @param {string} dataDir */
function lastLogLine(dataDir) {
  const lines = readFileSync(logFile(dataDir), 'utf8').trim().split('\n');
  return lines.find((line) => line.includes('FATAL:')) ?? lines.at(-1) ?? '';
}

/** PG* variables of the caller name another server, and a foreign locale would translate the messages read here. */
function cleanEnv() {
  const others = Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG)/.test(name));
  return { ...Object.fromEntries(others), LC_ALL: 'C' };
}
