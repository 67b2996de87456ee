import { NestFactory } from '@nestjs/core';
import type { INestApplicationContext } from '@nestjs/common';
import { readConfig } from '../config/app-config';
import { WorkerModule } from '../worker.module';

/** For specs: a whole worker in this process, with its queues and loops. */
export class SpecWorker {
  private constructor(readonly app: INestApplicationContext) {}

  static async start(stores: { readonly databaseUrl: string; readonly redisUrl: string }): Promise<SpecWorker> {
    const config = readConfig({ DATABASE_URL: stores.databaseUrl, REDIS_URL: stores.redisUrl });
    const app = await NestFactory.createApplicationContext(WorkerModule.with(config), { logger: ['error'] });
    app.get(WorkerModule).start();
    return new SpecWorker(app);
  }

  async stop(): Promise<void> {
    await this.app.get(WorkerModule).stop();
    await this.app.close();
  }
}

const CALIBRATION_MS = 40;

/**
 * How much slower than alone this machine runs us now: wall time over CPU time of a busy loop, 1 or more. Figures that bind only a machine that
 * is free to keep them are multiplied by it, and reported with it.
 */
export function contention(): number {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  let cpuMs = 0;
  while (cpuMs < CALIBRATION_MS) {
    const { user, system } = process.cpuUsage(before);
    cpuMs = (user + system) / 1000;
  }
  return Math.max(1, (performance.now() - startedAt) / cpuMs);
}

/** Looks every few ms until `look` answers something; for what another process does in its own time. */
export async function eventually<T>(look: () => Promise<T | null | undefined | false>, withinMs = 15_000): Promise<T> {
  const untilMs = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== null && found !== undefined && found !== false) return found;
    if (performance.now() > untilMs) throw new NotInTimeError(`not within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

class NotInTimeError extends Error {
  override readonly name = 'NotInTimeError';
}
