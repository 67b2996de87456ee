import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withFileLock } from './stores/file-lock.mjs';

// Runs before anything is installed: only what Node brings may be imported here.
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const STAMP = join(ROOT, 'node_modules/.installed-lock');
const LOCK = join(ROOT, '.nx/install.lock');
const WAIT_LIMIT_MS = 15 * 60_000;

/**
 * Brings `node_modules` to what `package-lock.json` says, with `npm ci`, unless it is so already.
 * Two processes that ask at once install once: the second waits for the first.
 * @returns whether it installed something; throws when npm fails
 */
export async function ensureInstalled() {
  if (isInstalled()) return false;
  mkdirSync(join(ROOT, '.nx'), { recursive: true });
  return withFileLock(LOCK, async () => !isInstalled() && install(), WAIT_LIMIT_MS);
}

function install() {
  console.log('Installing packages (npm ci) ...');
  const npm = process.env.npm_execpath;
  const [command, args] = npm ? [process.execPath, [npm, 'ci']] : ['npm', ['ci']];
  const { status, error } = spawnSync(command, [...args, '--no-audit', '--no-fund', '--loglevel=error'], { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) throw new Error(`npm ci failed${error ? `: ${error.message}` : ` with code ${status}`}`);
  writeFileSync(STAMP, lockHash());
  return true;
}

function lockHash() {
  return createHash('sha256').update(readFileSync(join(ROOT, 'package-lock.json'))).digest('hex');
}

function isInstalled() {
  const hash = lockHash();
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === hash) return true;
  if (!holdsLockedVersions()) return false;
  writeFileSync(STAMP, hash);
  return true;
}

/** True also for a tree that a person installed with plain `npm install`: npm's own record is compared, not a time. */
function holdsLockedVersions() {
  const record = join(ROOT, 'node_modules/.package-lock.json');
  if (!existsSync(record)) return false;
  const installed = JSON.parse(readFileSync(record, 'utf8')).packages;
  const locked = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages;
  return Object.entries(locked).every(([path, { version, optional, link }]) => {
    if (!path.includes('node_modules/') || link || (optional && !installed[path])) return true;
    return installed[path]?.version === version;
  });
}
