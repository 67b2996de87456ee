import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module';
import { ConfigError, readConfig, type AppConfig } from './config/app-config';
import { requireStores } from './database/store-check';
import { Readiness } from './health/readiness';
import { createHttpApp } from './http/http-server';

/** Longest orderly end in ms; requests still under way then are cut. */
const STOP_LIMIT_MS = 9_000;
/** How long calls are still taken once the process was told to end, in ms: a socket that closes at once resets what waits in its queue. */
const LINGER_MS = 1_000;

async function start(): Promise<void> {
  const config = readConfig(process.env);
  await requireStores(config);
  const app = await createHttpApp(AppModule.with(config), config);
  await app.init();
  const url = await listen(app, config);
  console.log(`The API listens on ${url}`);

  let isStopping = false;
  const stop = (): void => {
    if (isStopping) return;
    isStopping = true;
    setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();
    app.get(Readiness).isDraining = true;
    void sleep(LINGER_MS).then(() => app.close()).then(() => process.exit(0), fail);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop);
}

/** Through Fastify itself: Nest would log a taken port with its own line before ours. */
async function listen(app: NestFastifyApplication, config: AppConfig): Promise<string> {
  const { port, host } = config;
  const instance = app.getHttpAdapter().getInstance();
  const address = await instance.listen({ port, host }).catch((error: unknown) => {
    throw portError(error, config);
  });
  const url = new URL(address);
  return host === '::' || host === '0.0.0.0' ? `http://localhost:${url.port || '80'}` : url.origin;
}

function portError(error: unknown, { port, host }: AppConfig): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') return new ConfigError(`Port ${port} is taken. Stop what listens there, or set PORT to another.`);
  if (code === 'EACCES') return new ConfigError(`Port ${port} needs more rights than this process has. Set PORT to one above 1023.`);
  if (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT') return new ConfigError(`This machine has no address ${host}. Set QUOTAPLANE_HOST to one of its own.`);
  return error;
}

/** A mistake in the settings is one line; a fault of ours keeps its stack. */
function fail(error: unknown): never {
  console.error(error instanceof ConfigError ? error.message : error);
  process.exit(1);
}

await start().catch(fail);
