import 'reflect-metadata';
import {
  All, Body, Controller, Get, HttpCode, HttpException, InternalServerErrorException, Module, NotFoundException, Post, Res, StreamableFile, UseGuards,
  type DynamicModule, type INestApplication, type LoggerService,
} from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Readable } from 'node:stream';
import { Cost, EndpointClass, QuotaGuard, QuotaplaneModule, SkipQuota, Subject, type QuotaplaneOptions } from '../index';

const itemCount = (body: unknown): number => (body as { items: unknown[] }).items.length;
const emailOf = (body: unknown): string | undefined => (body as { email?: string } | undefined)?.email?.trim().toLowerCase();

/** One handler per thing that the fields have to survive. */
@Controller()
@UseGuards(QuotaGuard)
export class ProbeController {
  @Get('echo')
  echo(): object {
    return { ok: true };
  }

  @Post('echo')
  @HttpCode(201)
  post(@Body() body: unknown): unknown {
    return body;
  }

  @Get('search')
  @EndpointClass('search')
  search(): object {
    return {};
  }

  @Post('bulk')
  @EndpointClass('bulk')
  @Cost((request) => itemCount(request.body))
  bulk(): object {
    return {};
  }

  @Get('report')
  @EndpointClass('report')
  @Cost((request) => Number(request.query['pages']))
  report(): object {
    return {};
  }

  @Get('free')
  @EndpointClass('free')
  free(): object {
    return {};
  }

  @Get('open')
  @EndpointClass('open')
  open(): object {
    return {};
  }

  @Post('login')
  @HttpCode(200)
  @EndpointClass('login', { failMode: 'closed' })
  @Subject('account', (request) => emailOf(request.body))
  login(): never {
    throw new HttpException({ error: 'wrong password' }, 401);
  }

  @Get('missing')
  missing(): never {
    throw new NotFoundException();
  }

  @Get('fail')
  fail(): never {
    throw new InternalServerErrorException();
  }

  @Get('crash')
  crash(): never {
    throw new Error('not an HTTP error');
  }

  @Get('stream')
  stream(): StreamableFile {
    return new StreamableFile(Readable.from(['one,', 'two']));
  }

  @Get('raw')
  raw(@Res() answer: { raw?: NodeJS.WritableStream } & NodeJS.WritableStream): void {
    (answer.raw ?? answer).end('raw');
  }

  @Get('items/:id')
  item(): object {
    return {};
  }

  @Get('skipped')
  @SkipQuota()
  skipped(): object {
    return {};
  }

  @All('*')
  other(): never {
    throw new NotFoundException();
  }
}

export type Adapter = 'fastify' | 'express';
export const ADAPTERS: readonly Adapter[] = ['fastify', 'express'];

export interface GuardedApp {
  readonly url: string;
  readonly app: INestApplication;
  get(path: string, headers?: Record<string, string>, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

/** Guarded twice, globally and on the controller: every count of the specs shows that this is one decision. */
@Module({})
class ProbeModule {
  static of(quotaplane: DynamicModule): DynamicModule {
    return { module: ProbeModule, imports: [quotaplane], controllers: [ProbeController], providers: [{ provide: APP_GUARD, useClass: QuotaGuard }] };
  }
}

/** A real service on a free port, guarded on every handler. Silent, unless a logger is given. */
export async function startGuardedApp(adapter: Adapter, options: QuotaplaneOptions | DynamicModule, logger: LoggerService | false = false): Promise<GuardedApp> {
  const quotaplane = 'module' in options ? options : QuotaplaneModule.forRoot(options);
  const platform = adapter === 'fastify' ? new FastifyAdapter() : new ExpressAdapter();
  const app = await NestFactory.create(ProbeModule.of(quotaplane), platform, { logger, abortOnError: false });
  await app.listen(0, '127.0.0.1');
  const url = (await app.getUrl()).replace('[::1]', '127.0.0.1');
  return {
    url,
    app,
    get: (path, headers = {}, init = {}) => fetch(`${url}${path}`, { ...init, headers }),
    close: () => app.close(),
  };
}
