// A lock between processes that heals after kill -9.
import { linkSync, mkdirSync, readFileSync, rmdirSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isStampAlive, processStamp } from './server-process.mjs';

const BREAK_LIMIT_MS = 5_000;

/**
 * Runs the work while this process alone holds the lock.
 * @template T
 * @param {string} path the lock's file; its folder must exist
 * @param {() => Promise<T>} work
 * @param {number} [deadlineMs] how long to wait for the holder
 * @returns {Promise<T>}
 * @throws {Error} a living process still held the lock at the deadline
 */
export async function withFileLock(path, work, deadlineMs = 120_000) {
  const until = performance.now() + deadlineMs;
  while (!tryLock(path)) {
    if (performance.now() > until) throw new Error(`${path} is still held by process ${lockHolder(path)}`);
    await sleep(15 + Math.random() * 15);
  }
  try {
    return await work();
  } finally {
    unlock(path);
  }
}

/**
 * Takes the lock if no living process holds it.
 * @param {string} path
 * @returns {boolean}
 */
export function tryLock(path) {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(draft, processStamp(process.pid), { mode: 0o600 });
  try {
    if (tryLink(draft, path)) return true;
    return breakStale(path) && tryLink(draft, path);
  } finally {
    unlinkSync(draft);
  }
}

/** @param {string} path */
export function unlock(path) {
  try {
    unlinkSync(path);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') throw error;
  }
}

/**
 * @param {string} path
 * @returns {number | undefined} the pid of the living holder
 */
export function lockHolder(path) {
  const stamp = readStamp(path);
  return stamp !== undefined && isStampAlive(stamp) ? Number.parseInt(stamp, 10) : undefined;
}

/** @param {string} draft @param {string} path */
function tryLink(draft, path) {
  try {
    // A hard link appears with its content or not at all; open-then-write would show an empty lock.
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
    return false;
  }
}

/**
 * Removes a lock whose holder is dead. One process at a time does, or a second one could remove the first one's new lock.
 * @param {string} path
 * @returns {boolean} whether the way is free now
 */
function breakStale(path) {
  if (lockHolder(path) !== undefined) return false;
  const guard = `${path}.breaking`;
  try {
    mkdirSync(guard);
  } catch {
    removeOldGuard(guard);
    return false;
  }
  try {
    if (lockHolder(path) !== undefined) return false;
    unlock(path);
    return true;
  } finally {
    rmdirSync(guard);
  }
}

/** @param {string} guard */
function removeOldGuard(guard) {
  try {
    if (Date.now() - statSync(guard).mtimeMs > BREAK_LIMIT_MS) rmdirSync(guard);
  } catch {
    // Its maker, or another waiter, was quicker.
  }
}

/** @param {string} path */
function readStamp(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
