#!/usr/bin/env node
// npm run echo: one more echo process. Needs REDIS_URL, or a running `npm start` in the same data folder, and takes ECHO_PORT or any free port.
// QUOTAPLANE_GUARD_REDIS_URL goes before REDIS_URL: the same Redis by a user that can do no more than a guard needs.
import { mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildProduct, entryFile, untilHealthy } from './bootstrap-apps.mjs';
import { runningRedis } from './bootstrap-record.mjs';
import { StartError, choosePort, dataFolder, loadSettingsFile } from './bootstrap-settings.mjs';
import { checkRedis } from './bootstrap-stores.mjs';
import { ensureInstalled } from './install.mjs';

try {
  loadSettingsFile(fileURLToPath(new URL('..', import.meta.url)));
  await ensureInstalled();
  const redisUrl = process.env.QUOTAPLANE_GUARD_REDIS_URL || process.env.REDIS_URL || runningRedis();
  if (!redisUrl) throw new StartError('No Redis is known. Set REDIS_URL, or run npm start first and keep it running.');
  const port = await choosePort('ECHO_PORT', 0);
  await checkRedis(redisUrl);
  await buildProduct({ console: false });
  const log = openLog(join(dataFolder(), 'logs'), `echo-${port}.log`);
  const say = process.stdout.write.bind(process.stdout);
  process.stdout.write = log.write;
  process.env.REDIS_URL = redisUrl;
  process.env.ECHO_PORT = String(port);
  // In this very process, so that signals and the exit code are echo's own.
  await import(entryFile('echo/main.mjs'));
  await untilHealthy(`http://127.0.0.1:${port}/health`, new AbortController().signal);
  // Until here a person must see what went wrong.
  process.stderr.write = log.write;
  say(`Echo http://127.0.0.1:${port}, its log is ${log.file}\nready\n`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

/**
 * A stand-in for the write of this process's streams.
 * @param {string} folder
 * @param {string} name
 */
function openLog(folder, name) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, name);
  const fd = openSync(file, 'w', 0o600);
  /** @param {string | Uint8Array} text @param {...unknown} rest an encoding or a callback, or both */
  const write = (text, ...rest) => {
    writeSync(fd, typeof text === 'string' ? Buffer.from(text) : text);
    const done = rest.at(-1);
    if (typeof done === 'function') done();
    return true;
  };
  return { file, write };
}
