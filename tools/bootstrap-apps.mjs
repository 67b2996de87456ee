// Building and running the three processes of the product.
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { StartError, reasonOf } from './bootstrap-settings.mjs';
import { stopProcess } from './stores/index.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const STOP_LIMIT_MS = 10_000;
const READY_LIMIT_MS = 120_000;

/**
 * @typedef {object} App
 * @property {string} name
 * @property {number} pid
 * @property {Promise<string>} ended resolves to one line that says how and why
 * @property {() => Promise<void>} stop
 * @property {() => void} kill
 */

/**
 * Generates the Prisma client and builds what is out of date.
 * A build that lies elsewhere (QUOTAPLANE_DIST_DIR) is run as it is.
 * @param {{ console?: boolean }} [options]
 */
export async function buildProduct(options = {}) {
  if (process.env.QUOTAPLANE_DIST_DIR) return;
  const { generatePrismaClient } = await import('./prisma-generate.mjs');
  await generatePrismaClient();
  const { buildAll } = await import('./build.mjs');
  await buildAll(options);
}

/** @param {string} entry below dist/apps, such as `api/main.mjs` */
export function entryFile(entry) {
  const file = join(process.env.QUOTAPLANE_DIST_DIR || join(ROOT, 'dist/apps'), entry);
  if (!existsSync(file)) throw new StartError(`The build has not made ${file}. Remove the folder dist and start again.`);
  return file;
}

/**
 * Starts one process in a group of its own, so that a signal to the starter's group reaches it once, in order, from the starter.
 * @param {string} name
 * @param {string} entry
 * @param {NodeJS.ProcessEnv} env
 * @param {string} logFolder
 * @returns {App}
 */
export function startApp(name, entry, env, logFolder) {
  mkdirSync(logFolder, { recursive: true, mode: 0o700 });
  const log = join(logFolder, `${entry.replace('/', '-').replace('.mjs', '')}.log`);
  if (existsSync(log)) renameSync(log, `${log}.old`);
  const fd = openSync(log, 'w', 0o600);
  const child = spawn(process.execPath, ['--enable-source-maps', entryFile(entry)], { env, detached: true, stdio: ['ignore', fd, fd] });
  closeSync(fd);
  const ended = new Promise((resolve) => {
    child.once('error', (error) => resolve(`${name} could not be started: ${reasonOf(error)}.`));
    child.once('exit', (code, signal) => resolve(`${name} ended by ${signal ?? `exit code ${code}`}${lastWords(log)}. Its log is ${log}.`));
  });
  const pid = child.pid ?? -1;
  return {
    name,
    pid,
    ended: /** @type {Promise<string>} */ (ended),
    kill: () => void child.kill('SIGKILL'),
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null && pid > 0) await stopProcess(pid, 'SIGTERM', STOP_LIMIT_MS);
    },
  };
}

/**
 * Runs one command of the build to its end, or until the signal.
 * @param {string} name
 * @param {string} entry
 * @param {NodeJS.ProcessEnv} env
 * @param {string} logFolder
 * @param {AbortSignal} signal
 */
export async function runToEnd(name, entry, env, logFolder, signal) {
  const app = startApp(name, entry, env, logFolder);
  signal.addEventListener('abort', () => void app.stop(), { once: true });
  const how = await app.ended;
  if (!how.includes('exit code 0')) throw new StartError(how);
}

/**
 * Waits until the address answers 200.
 * @param {string} url
 * @param {AbortSignal} signal ends the waiting
 */
export async function untilHealthy(url, signal) {
  const until = performance.now() + READY_LIMIT_MS;
  let last = 'nothing answered';
  while (performance.now() < until && !signal.aborted) {
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
      const body = await response.text();
      if (response.ok) return;
      last = `${response.status} ${body.slice(0, 300)}`;
    } catch (error) {
      last = reasonOf(error);
    }
    await sleep(50);
  }
  if (!signal.aborted) throw new StartError(`${url} was not healthy within ${READY_LIMIT_MS / 1000} s (${last.replaceAll('\n', ' ')}).`);
}

/**
 * The message of an uncaught error, or else the last line.
 * @param {string} log
 */
function lastWords(log) {
  try {
    const lines = readFileSync(log, 'utf8').trim().split('\n');
    const line = lines.findLast((text) => /^\w*Error\b/.test(text)) ?? lines.at(-1) ?? '';
    return line === '' ? '' : ` (${line.slice(0, 300)})`;
  } catch {
    return '';
  }
}
