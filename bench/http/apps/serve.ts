import { Module, type INestApplication } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { QuotaMetrics } from '@quotaplane/guard';
import { BenchController } from './bench.controller';
import { CONTENDERS, type Contender, type Framework } from './contenders';

/** Name of the variable that says which app a process is. */
export const APP = 'QUOTAPLANE_BENCH_APP';

/** What an app's process is told. */
export interface AppOrder {
  readonly framework: Framework;
  readonly contender: string;
  readonly redisUrl: string;
}

/** What it answers: where it listens, then on each question how much CPU it has used, and how often our guard decided without the store. */
export type AppWord = { readonly port: number } | { readonly cpuMicros: number; readonly fallbacks: number };

@Module({})
class BenchModule {}

/** Runs one app until its parent is gone. */
export async function serve(order: string): Promise<void> {
  const { framework, contender, redisUrl } = JSON.parse(order) as AppOrder;
  const make = CONTENDERS[contender];
  if (make === undefined) throw new TypeError(`there is no contender ${contender}`);
  const { app, close } = await startApp(framework, make(redisUrl, framework));
  process.on('message', () => void say(contender === 'ours' ? app.get(QuotaMetrics, { strict: false }) : undefined));
  process.on('disconnect', () => void close());
  tell({ port: Number(new URL(await app.getUrl()).port) });
}

async function startApp(framework: Framework, { imports = [], guard, prepare }: Contender): Promise<{ app: INestApplication; close: () => Promise<void> }> {
  const root = { module: BenchModule, imports: [...imports], controllers: [BenchController], providers: guard ? [{ provide: APP_GUARD, useClass: guard }] : [] };
  const app = await NestFactory.create(root, framework === 'fastify' ? new FastifyAdapter() : new ExpressAdapter(), { logger: ['error', 'fatal'] });
  await prepare?.(app);
  await app.listen(0, '127.0.0.1');
  const close = async (): Promise<void> => {
    // Connections to Redis that the rivals were given stay open otherwise.
    setTimeout(() => process.exit(), 3000).unref();
    await app.close();
    process.exit();
  };
  return { app, close };
}

async function say(metrics: QuotaMetrics | undefined): Promise<void> {
  const { user, system } = process.cpuUsage();
  const fallbacks = await metrics?.registry.getSingleMetric('quotaplane_fallbacks_total')?.get();
  tell({ cpuMicros: user + system, fallbacks: (fallbacks?.values ?? []).reduce((total, { value }) => total + value, 0) });
}

function tell(word: AppWord): void {
  process.send?.(word);
}
