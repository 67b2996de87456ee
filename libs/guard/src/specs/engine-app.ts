import 'reflect-metadata';
import type { Server } from 'node:http';
import { Controller, Get, HttpException, Module, Post, Query, UseGuards, type DynamicModule, type INestApplication, type LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { ClassCatalogue, ListsDocument } from '@quotaplane/contracts';
import { PolicyPublisher } from '@quotaplane/policy';
import { connectLimitRedis, type LimitRedis } from '@quotaplane/rate-limit';
import { startRedis, type TestRedis } from '@quotaplane/testing';
import { EndpointClass, LimitConcurrency, QuotaGuard, QuotaplaneModule, type QuotaplaneOptions } from '../index';
import { hashSecret } from '../key-format';
import type { Adapter } from './guarded-app';
import { publish, type PolicyParts } from './policies';

/** Calls of `/held` that have not been let go. */
export class Gate {
  private waiting: (() => void)[] = [];

  get inside(): number {
    return this.waiting.length;
  }

  pass(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  open(): void {
    for (const go of this.waiting.splice(0)) go();
  }
}
export const gate = new Gate();
/** Ids of the calls of `/ran` that reached their handler. */
export const ran: string[] = [];

@Controller()
@UseGuards(QuotaGuard)
class EngineController {
  @Get('plain')
  plain(): object {
    return {};
  }

  @Get('ran')
  ran(@Query('id') id: string): object {
    ran.push(id);
    return {};
  }

  @Get('codes/:code')
  code(): object {
    return {};
  }

  /** Answers as asked; without a status only when the gate opens. */
  @Get('outcome')
  @EndpointClass('refunding')
  async outcome(@Query('status') status?: string): Promise<object> {
    if (status === undefined) await gate.pass();
    if (Number(status) >= 400) throw new HttpException('as asked', Number(status));
    return {};
  }

  @Get('held')
  @LimitConcurrency()
  async held(): Promise<object> {
    await gate.pass();
    return {};
  }

  @Post('pay')
  @EndpointClass('payment')
  pay(): object {
    return {};
  }
}

@Module({})
class EngineModule {
  static of(quotaplane: DynamicModule): DynamicModule {
    return { module: EngineModule, imports: [quotaplane], controllers: [EngineController] };
  }
}

/** The classes of this service. */
export const ENGINE_CLASSES: ClassCatalogue = {
  v: 1,
  revision: 1,
  classes: {
    default: { cost: 1, meter: 'requests', failMode: 'local', refundOn: [] },
    refunding: { cost: 1, meter: 'requests', failMode: 'local', refundOn: ['4xx', 'aborted'] },
    payment: { cost: 10, meter: 'requests', failMode: 'local', refundOn: [], retry: { cost: 1, windowMs: 60_000, max: 2 } },
  },
};

/** A guarded service with its own Redis and a publisher for it. */
export class EngineRig {
  private constructor(
    readonly redis: TestRedis,
    readonly client: LimitRedis,
    readonly publisher: PolicyPublisher,
    private readonly app: INestApplication,
    readonly url: string,
  ) {}

  static async start(adapter: Adapter, options: Partial<QuotaplaneOptions> = {}, logger: LoggerService | false = false): Promise<EngineRig> {
    const redis = await startRedis();
    const client = connectLimitRedis(redis.url);
    await new Promise((resolve) => client.once('ready', resolve));
    const publisher = new PolicyPublisher({ redis: client });
    await publisher.publishClasses(ENGINE_CLASSES, 'c');
    const quotaplane = QuotaplaneModule.forRoot({ redisUrl: redis.url, service: 'engine', storeBudgetMs: 1000, ...options });
    const app = await NestFactory.create(EngineModule.of(quotaplane), adapter === 'fastify' ? new FastifyAdapter() : new ExpressAdapter(), { logger, abortOnError: false });
    await app.listen(0, '127.0.0.1');
    return new EngineRig(redis, client, publisher, app, (await app.getUrl()).replace('[::1]', '127.0.0.1'));
  }

  /** Publishes a tenant with one key. @returns the header of that key */
  async tenant(name: string, parts: Omit<PolicyParts, 'tenant'>): Promise<Record<string, string>> {
    await publish(this.publisher, { ...parts, tenant: name });
    await this.publisher.publishKey(hashSecret(`demo-${name}`), { tenant: name, keyId: `key-${name}`, userId: null, kind: 'customer' });
    return { 'X-Api-Key': `demo-${name}` };
  }

  async lists(entries: readonly (Partial<ListsDocument['entries'][number]> & Pick<ListsDocument['entries'][number], 'list' | 'scope'>)[]): Promise<void> {
    const document: ListsDocument = {
      v: 1, revision: 1, entries: entries.map((entry, index) => ({ id: String(index), tenant: null, subject: '', fromMs: null, untilMs: null, ...entry })),
    };
    await this.client.set('qp:lists', JSON.stringify(document));
  }

  get(path: string, headers: Record<string, string> = {}, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.url}${path}`, { ...init, headers });
  }

  /** Status of one call. */
  async status(path: string, headers: Record<string, string> = {}, init: RequestInit = {}): Promise<number> {
    const answer = await this.get(path, headers, init);
    await answer.arrayBuffer();
    return answer.status;
  }

  async stop(): Promise<void> {
    gate.open();
    this.redis.resume();
    // A caller that went away may have opened a connection that nothing was ever asked on; closing waits for those.
    (this.app.getHttpServer() as Server).closeAllConnections();
    await this.app.close();
    this.client.disconnect();
    await this.redis.stop();
  }
}
