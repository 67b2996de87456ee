import { createHash } from 'node:crypto';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withFileLock } from './stores/file-lock.mjs';

// Runs before anything is installed: only what Node brings may be imported here.
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const STAMP = join(ROOT, 'node_modules/.installed-lock');
const LOCK = join(ROOT, '.nx/install.lock');
const WAIT_LIMIT_MS = 15 * 60_000;
const DOT_EVERY_MS = 3_000;

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

async function install() {
  const isQuiet = process.env.npm_config_loglevel === 'silent';
  if (!isQuiet) process.stdout.write('Installing packages (npm ci); about a minute the first time ');
  const npm = process.env.npm_execpath;
  const [command, args] = npm ? [process.execPath, [npm, 'ci']] : ['npm', ['ci']];
  const dots = setInterval(() => !isQuiet && process.stdout.write('.'), DOT_EVERY_MS);
  try {
    const how = await endOf(spawn(command, [...args, '--no-audit', '--no-fund', `--loglevel=${isQuiet ? 'silent' : 'error'}`], { cwd: ROOT, stdio: 'inherit' }));
    if (how !== 'code 0') throw new Error(`npm ci failed: ${how}`);
  } finally {
    clearInterval(dots);
    if (!isQuiet) process.stdout.write('\n');
  }
  writeFileSync(STAMP, lockHash());
  return true;
}

/** `code 0`, another code, a signal, or why it could not be started. */
function endOf(child) {
  return new Promise((resolve) => {
    child.once('error', ({ message }) => resolve(message));
    child.once('exit', (code, signal) => resolve(signal ?? `code ${code}`));
  });
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
