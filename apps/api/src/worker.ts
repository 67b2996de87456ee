import 'reflect-metadata';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Redis } from 'ioredis';
import { ConfigError, readConfig } from './config/app-config';
import { REDIS } from './database/redis';
import { requireStores } from './database/store-check';
import { serveMetrics } from './outbox/metrics-server';
import { WorkerModule } from './worker.module';

/** Longest orderly end in ms; what is cut off then is done again by the next worker. */
const STOP_LIMIT_MS = 9_000;
/** The same without Redis: nothing that is under way can end well. */
const STOP_LIMIT_AWAY_MS = 1_500;
const CONNECT_LIMIT_MS = 2_000;
/** A connection for every sweep, and two for each lane of the relay, the server of what is wanted and the watch: none has to wait for another's transaction. */
const POOL_SIZE = '24';

async function start(): Promise<void> {
  const config = readConfig({ QUOTAPLANE_DB_POOL: POOL_SIZE, ...process.env });
  await requireStores(config);
  const app = await NestFactory.createApplicationContext(WorkerModule.with(config));
  const logger = new Logger('Worker');
  const redis = app.get<Redis>(REDIS);
  // It is there, as was just seen: the first look should not complain about a connection that is being opened.
  if (redis.status !== 'ready') await Promise.race([once(redis, 'ready'), delay(CONNECT_LIMIT_MS, undefined, { ref: false })]);
  const worker = app.get(WorkerModule);
  worker.start();
  const metrics = await serveMetrics(process.env['QUOTAPLANE_WORKER_PORT']);
  logger.log('The worker publishes changes and folds usage');

  let isStopping = false;
  const stop = async (signal: string): Promise<void> => {
    if (isStopping) return;
    isStopping = true;
    logger.log(`${signal}: finishing what is under way`);
    const isRedisAway = redis.status !== 'ready';
    setTimeout(() => process.exit(isRedisAway ? 0 : 1), isRedisAway ? STOP_LIMIT_AWAY_MS : STOP_LIMIT_MS).unref();
    await worker.stop();
    await metrics?.close();
    await app.close();
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal).catch(fail));
}

function fail(error: unknown): never {
  // A mistake in the settings needs no stack; a fault of ours does.
  console.error(error instanceof ConfigError ? error.message : error);
  process.exit(1);
}

await start().catch(fail);
