import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Redis } from 'ioredis';
import { ConfigError, readConfig } from './config/app-config';
import { PrismaService } from './database/prisma.service';
import { REDIS } from './database/redis';
import { WorkerModule } from './worker.module';

/** Longest orderly end; what is cut off then is done again by the next worker. */
const STOP_LIMIT_MS = 9_000;
const REDIS_WAIT_MS = 5_000;

async function start(): Promise<void> {
  const app = await NestFactory.createApplicationContext(WorkerModule.with(readConfig(process.env)), { bufferLogs: false });
  const logger = new Logger('Worker');
  await untilStoresAnswer(app.get(PrismaService), app.get<Redis>(REDIS));
  const worker = app.get(WorkerModule);
  worker.start();
  logger.log('The worker publishes changes and folds usage');

  let isStopping = false;
  const stop = async (signal: string): Promise<void> => {
    if (isStopping) return;
    isStopping = true;
    logger.log(`${signal}: finishing what is under way`);
    setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();
    await worker.stop();
    await app.close();
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal).catch(fail));
}

/** A store that is not there at start is a mistake in the settings, and said in one line; later it is waited for. */
async function untilStoresAnswer(prisma: PrismaService, redis: Redis): Promise<void> {
  await prisma.$queryRaw`SELECT 1`.catch(() => {
    throw new ConfigError('Postgres does not answer at DATABASE_URL. Start it, or correct DATABASE_URL.');
  });
  if (redis.status === 'ready') return;
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new ConfigError('Redis does not answer at REDIS_URL. Start it, or correct REDIS_URL.')), REDIS_WAIT_MS);
    redis.once('ready', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function fail(error: unknown): never {
  // A mistake in the settings needs no stack; a fault of ours does.
  console.error(error instanceof ConfigError ? error.message : error);
  process.exit(1);
}

await start().catch(fail);
