#!/usr/bin/env node
// npm run echo: one more echo process. Needs REDIS_URL, or a running `npm start` in the same data folder, and takes ECHO_PORT or any free port.
import { buildProduct, entryFile, untilHealthy } from './bootstrap-apps.mjs';
import { runningRedis } from './bootstrap-record.mjs';
import { StartError, choosePort } from './bootstrap-settings.mjs';
import { checkRedis } from './bootstrap-stores.mjs';
import { ensureInstalled } from './install.mjs';

try {
  await ensureInstalled();
  const redisUrl = process.env.REDIS_URL || runningRedis();
  if (!redisUrl) throw new StartError('No Redis is known. Set REDIS_URL, or run npm start first and keep it running.');
  const port = await choosePort('ECHO_PORT', 0);
  await checkRedis(redisUrl);
  await buildProduct({ console: false });
  process.env.REDIS_URL = redisUrl;
  process.env.ECHO_PORT = String(port);
  // In this very process, so that signals and the exit code are echo's own.
  await import(entryFile('echo/main.mjs'));
  await untilHealthy(`http://127.0.0.1:${port}/health`, new AbortController().signal);
  console.log(`Echo http://127.0.0.1:${port}`);
  console.log('ready');
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
