// Starting, watching and stopping one server process that must outlive a signal sent to its starter's group.
import { readFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 5;

/**
 * @typedef {object} ServerProcess
 * @property {number} pid
 * @property {() => boolean} hasExited
 * @property {() => string} output the last 8 kB the server printed, when its output was not sent to a file
 * @property {Promise<void>} exited
 * @property {import('node:child_process').ChildProcess} child
 */

/**
 * Starts a server in a process group of its own, so that Ctrl-C reaches its starter first.
 * @param {string} command
 * @param {string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, cwd?: string, uid?: number, gid?: number, stdin?: string, logFd?: number }} [options]
 * @returns {Promise<ServerProcess>}
 */
export function spawnServer(command, args, options = {}) {
  const { stdin, logFd, ...rest } = options;
  const log = logFd ?? 'pipe';
  const child = spawn(command, args, { ...rest, detached: true, stdio: [stdin === undefined ? 'ignore' : 'pipe', log, log] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => (output = (output + String(chunk)).slice(-8192)));
  }
  let hasExited = false;
  const exited = new Promise((resolve) => child.once('exit', () => resolve((hasExited = true))));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => {
      child.stdin?.on('error', () => undefined).end(stdin);
      resolve({ child, pid: Number(child.pid), hasExited: () => hasExited, output: () => output, exited: exited.then(() => undefined) });
    });
  });
}

/**
 * Lets the starter's event loop end although the server runs on.
 * @param {ServerProcess} server
 */
export function unref(server) {
  server.child.unref();
  for (const stream of [server.child.stdout, server.child.stderr]) /** @type {any} */ (stream)?.unref?.();
}

/**
 * @param {number} pid
 * @returns {boolean} true for a running process, also another user's; false for a zombie
 */
export function isAlive(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EPERM') return false;
  }
  return processStat(pid)?.state !== 'Z';
}

/**
 * Names one life of a process: a pid alone may have been given to another since.
 * @param {number} pid
 * @returns {string}
 */
export function processStamp(pid) {
  return `${pid}:${processStat(pid)?.startedAt ?? ''}`;
}

/**
 * @param {string} stamp as processStamp gave it
 * @returns {boolean}
 */
export function isStampAlive(stamp) {
  const pid = Number.parseInt(stamp, 10);
  return pid > 0 && isAlive(pid) && processStamp(pid) === stamp;
}

/**
 * The arguments a process was started with, or '' where the system does not tell.
 * @param {number} pid
 * @returns {string}
 */
export function commandLine(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

/**
 * Asks a process to stop and kills it when it has not after the deadline.
 * @param {number} pid
 * @param {NodeJS.Signals} signal
 * @param {number} deadlineMs
 * @returns {Promise<boolean>} false when it had to be killed
 */
export async function stopProcess(pid, signal, deadlineMs) {
  const isGone = async (/** @type {number} */ waitMs) => {
    const until = performance.now() + waitMs;
    while (isAlive(pid)) {
      if (performance.now() > until) return false;
      await sleep(POLL_MS);
    }
    return true;
  };
  signalQuietly(pid, signal);
  if (await isGone(deadlineMs)) return true;
  signalQuietly(pid, 'SIGKILL');
  await isGone(2_000);
  return false;
}

/**
 * Signals a process that may be gone already.
 * @param {number} pid
 * @param {NodeJS.Signals} signal
 */
export function signalQuietly(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error;
  }
}

/**
 * @param {number} pid
 * @returns {{ state: string, startedAt: string } | undefined}
 */
function processStat(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command's name may hold blanks and brackets, so fields are counted from its last bracket.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0], startedAt: fields[19] };
  } catch {
    return undefined;
  }
}
