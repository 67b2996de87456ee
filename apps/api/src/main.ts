import 'reflect-metadata';
import { AppModule } from './app.module';
import { ConfigError, readConfig, type AppConfig } from './config/app-config';
import { requireStores } from './database/store-check';
import { createHttpApp } from './http/http-server';

/** Longest orderly end in ms; requests still under way then are cut. */
const STOP_LIMIT_MS = 9_000;

async function start(): Promise<void> {
  const config = readConfig(process.env);
  await requireStores(config);
  const app = await createHttpApp(AppModule.with(config), config);
  await app.listen(config.port, config.host).catch((error: unknown) => {
    throw portError(error, config);
  });
  console.log(`The API listens on ${await app.getUrl()}`);

  let isStopping = false;
  const stop = (): void => {
    if (isStopping) return;
    isStopping = true;
    setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();
    void app.close().then(() => process.exit(0), fail);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop);
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
