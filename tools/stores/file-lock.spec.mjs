import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { lockHolder, tryLock, unlock, withFileLock } from './file-lock.mjs';
import { processStamp } from './server-process.mjs';

let folder;
let lock;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'quotaplane-lock-'));
  lock = join(folder, 'lock');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('lets one holder in at a time', async () => {
  let inside = 0;
  let most = 0;
  const work = async () => {
    inside += 1;
    most = Math.max(most, inside);
    await new Promise((resolve) => setTimeout(resolve, 2));
    inside -= 1;
  };
  await Promise.all(Array.from({ length: 8 }, () => withFileLock(lock, work)));
  expect(most).toBe(1);
});

it('is given back when the work fails', async () => {
  await expect(withFileLock(lock, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(tryLock(lock)).toBe(true);
});

it('heals when its holder died without giving it back', () => {
  const { stdout } = spawnSync(process.execPath, ['-e', 'console.log(process.pid)'], { encoding: 'utf8' });
  writeFileSync(lock, `${stdout.trim()}:12345`);
  expect(lockHolder(lock)).toBeUndefined();
  expect(tryLock(lock)).toBe(true);
  expect(lockHolder(lock)).toBe(process.pid);
});

it('heals when the pid of its dead holder was given to another process', () => {
  writeFileSync(lock, `${process.pid}:not-${processStamp(process.pid)}`);
  expect(tryLock(lock)).toBe(true);
});

it('refuses while a living process holds it', () => {
  expect(tryLock(lock)).toBe(true);
  expect(tryLock(lock)).toBe(false);
  unlock(lock);
  expect(tryLock(lock)).toBe(true);
});

it('says who holds it when the deadline passes', async () => {
  tryLock(lock);
  await expect(withFileLock(lock, async () => undefined, 30)).rejects.toThrow(`held by process ${process.pid}`);
});
