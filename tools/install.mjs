import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

// Runs before anything is installed: only what Node brings may be imported here.
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const STAMP = join(ROOT, 'node_modules/.installed-lock');
const TURN = join(ROOT, '.nx/install-turn');

/**
 * Brings `node_modules` to what `package-lock.json` says, with `npm ci`, unless it is so already.
 * Two processes that ask at once install once: the second waits for the first.
 * @returns whether it installed something; throws when npm fails
 */
export async function ensureInstalled() {
  if (isInstalled()) return false;
  await takeTurn();
  try {
    if (isInstalled()) return false;
    console.log('Installing packages (npm ci) ...');
    const npm = process.env.npm_execpath;
    const [command, args] = npm ? [process.execPath, [npm, 'ci']] : ['npm', ['ci']];
    const { status, error } = spawnSync(command, [...args, '--no-audit', '--no-fund', '--loglevel=error'], { cwd: ROOT, stdio: 'inherit' });
    if (status !== 0) throw new Error(`npm ci failed${error ? `: ${error.message}` : ` with code ${status}`}`);
    writeFileSync(STAMP, lockHash());
    return true;
  } finally {
    rmSync(TURN, { recursive: true, force: true });
  }
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

/** Waits until this process alone may install; a turn whose owner is gone is taken over. */
async function takeTurn() {
  mkdirSync(join(ROOT, '.nx'), { recursive: true });
  for (;;) {
    try {
      mkdirSync(TURN);
      writeFileSync(join(TURN, 'pid'), String(process.pid));
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (await isAbandoned()) rmSync(TURN, { recursive: true, force: true });
    else await wait(250);
  }
}

async function isAbandoned() {
  const file = join(TURN, 'pid');
  // The owner writes its id right after it made the folder.
  if (!existsSync(file)) await wait(1000);
  if (!existsSync(file)) return existsSync(TURN);
  try {
    process.kill(Number(readFileSync(file, 'utf8')), 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}
