import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConsoleLogger, type LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { installEarlyHook } from '@quotaplane/guard';
import { EchoModule } from './echo.module';
import { Readiness } from './operations.controller';
import type { EchoSettings } from './settings';
import { unroutedProblems } from './unrouted-problems';

/** Longest body in bytes; a longer one is answered with 413. */
const BODY_MAX_BYTES = 256 * 1024;
/**
 * How long the process still takes calls once it was told to end, in ms: those on their way, and those of a balancer that has yet to see that
 * `/health` answers 503. A listening socket that closes at once resets what waits in its queue.
 */
const LINGER_MS = 500;
/** How long calls under way may take once the process was told to end, in ms; then their connections are cut. */
const DRAIN_MS = 3500;

const OPERATIONS = /^\/(health|metrics)(\?|$)/;

export interface RunningEcho {
  readonly port: number;
  /** Answers 503 on `/health`, a moment later takes no more calls, lets the ones under way end, flushes the journal; at most 10 s in all. */
  stop(): Promise<void>;
}

/** Starts the service; one JSON line per log entry. Rejects with the server's error when the port is taken. */
export async function startEcho(settings: EchoSettings, logger: LoggerService | false = new ConsoleLogger({ json: true })): Promise<RunningEcho> {
  const adapter = new FastifyAdapter({ bodyLimit: BODY_MAX_BYTES, forceCloseConnections: 'idle', ...unroutedProblems });
  const app = await NestFactory.create<NestFastifyApplication>(EchoModule.of(settings), adapter, { logger, abortOnError: false });
  // Garbage and unmatched routes are limited too, by address; the operators' own routes are not.
  installEarlyHook(app, { skip: ({ url }) => OPERATIONS.test(url) });
  try {
    await app.listen(settings.port, '0.0.0.0');
  } catch (error) {
    await app.close();
    throw error;
  }
  const server = app.getHttpServer();
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : settings.port;
  return {
    port,
    stop: async () => {
      app.get(Readiness).isDraining = true;
      await sleep(LINGER_MS);
      const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
      try {
        await app.close();
      } finally {
        clearTimeout(cut);
      }
    },
  };
}
