// Finding a Redis server: on PATH, else unpacked from Debian's packages into a cache folder. No npm package ships one.
import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { withFileLock } from './file-lock.mjs';

const run = promisify(execFile);
const PACKAGES = ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1'];

/** @typedef {{ command: string, env: NodeJS.ProcessEnv }} RedisBinary */

export const REDIS_MISSING =
  'No Redis server was found. Do one of three things: set REDIS_URL to a running Redis 7 or later; install redis-server or ' +
  'valkey-server so that it is on PATH; or, on Debian and Ubuntu, let this program fetch it with apt-get.';

/**
 * The folder for downloads that every clone on this machine may use.
 * @returns {string}
 */
export function cacheFolder() {
  return process.env.QUOTAPLANE_CACHE_DIR || join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'quotaplane');
}

/**
 * @returns {Promise<RedisBinary>}
 * @throws {Error} with REDIS_MISSING when there is no way to get one
 */
export async function findRedisBinary() {
  for (const name of ['redis-server', 'valkey-server']) {
    const command = findOnPath(name);
    if (command) return { command, env: process.env };
  }
  const folder = join(cacheFolder(), 'redis');
  if (!isComplete(folder)) await fetchRedis(folder);
  return unpackedBinary(folder);
}

/** @param {string} folder @returns {RedisBinary} */
function unpackedBinary(folder) {
  const libraries = readdirSync(join(folder, 'usr/lib'))
    .filter((name) => name.includes('-linux-'))
    .map((name) => join(folder, 'usr/lib', name));
  const searched = [...libraries, process.env.LD_LIBRARY_PATH].filter(Boolean).join(delimiter);
  return { command: join(folder, 'usr/bin/redis-server'), env: { ...process.env, LD_LIBRARY_PATH: searched } };
}

/** @param {string} folder */
function isComplete(folder) {
  return existsSync(join(folder, 'usr/bin/redis-server'));
}

/** @param {string} folder */
async function fetchRedis(folder) {
  if (!findOnPath('apt-get') || !findOnPath('dpkg-deb')) throw new Error(REDIS_MISSING);
  mkdirSync(cacheFolder(), { recursive: true });
  await withFileLock(`${folder}.lock`, async () => {
    if (isComplete(folder)) return;
    const draft = mkdtempSync(`${folder}-`);
    try {
      await download(draft);
      for (const file of readdirSync(draft).filter((name) => name.endsWith('.deb'))) {
        await run('dpkg-deb', ['-x', join(draft, file), join(draft, 'root')]);
      }
      // Renamed as the last step, so that a kill on the way leaves no half a server behind.
      rmSync(folder, { recursive: true, force: true });
      renameSync(join(draft, 'root'), folder);
    } catch (error) {
      throw new Error(`${REDIS_MISSING} The last way failed: ${lastLine(error)}`, { cause: error });
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  });
}

/** @param {string} folder */
async function download(folder) {
  const get = () => run('apt-get', ['download', '-q', ...PACKAGES], { cwd: folder, timeout: 120_000 });
  try {
    await get();
  } catch {
    // A fresh machine has no package lists, or old ones that name files no longer served. Without root this fails, and the second try says why.
    await run('apt-get', ['update', '-q'], { timeout: 120_000 }).catch(() => undefined);
    await get();
  }
}

/** @param {unknown} error */
function lastLine(error) {
  const text = /** @type {{ stderr?: string }} */ (error).stderr || String(error);
  return text.trim().split('\n').at(-1) ?? '';
}

/**
 * @param {string} name
 * @returns {string | undefined}
 */
function findOnPath(name) {
  for (const folder of (process.env.PATH ?? '').split(delimiter).filter(Boolean)) {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return join(folder, name);
    } catch {
      // Not here; the next folder may have it.
    }
  }
  return undefined;
}
