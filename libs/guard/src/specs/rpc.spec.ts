import { Controller, Injectable, Module, type ExecutionContext, type INestMicroservice } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { ClientProxyFactory, EventPattern, MessagePattern, Transport, type ClientProxy } from '@nestjs/microservices';
import { freePort } from '@quotaplane/testing';
import { firstValueFrom, from, lastValueFrom, toArray, type Observable } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Cost, EndpointClass, LimitConcurrency, QuotaGuard, QuotaplaneModule, SkipQuota, type CallOutcome, type GuardedRequest, type Identity } from '../index';
import { GuardRuntime } from '../module/guard-runtime';
import { limitOf } from './policies';
import { startPlatform, type SpecPlatform } from './spec-platform';

interface OrderMessage {
  readonly tenant?: string;
  readonly items?: readonly string[];
}

/** TCP messages have no headers: who calls is in their payload. */
@Injectable()
class MessageQuotaGuard extends QuotaGuard {
  protected override identify(request: GuardedRequest, context: ExecutionContext): Identity | Promise<Identity> {
    const { tenant } = (request.body ?? {}) as OrderMessage;
    return tenant === undefined ? super.identify(request, context) : { kind: 'tenant', tenant };
  }

  protected override shouldSkip(context: ExecutionContext): boolean {
    return context.switchToRpc().getData<{ isInternal?: boolean } | undefined>()?.isInternal === true;
  }
}

const events: unknown[] = [];

@Controller()
class OrdersController {
  @MessagePattern('orders.create')
  @Cost(({ body }) => (body as OrderMessage).items?.length ?? 1)
  create({ items }: OrderMessage): object {
    return { created: items?.length ?? 0 };
  }

  @MessagePattern('orders.list')
  @EndpointClass('search')
  list(): Observable<number> {
    return from([1, 2, 3]);
  }

  @MessagePattern('orders.fail')
  @LimitConcurrency()
  fail(): never {
    throw new Error('no');
  }

  @MessagePattern('orders.held')
  @LimitConcurrency()
  held(): Observable<number> {
    return from([1, 2]);
  }

  @MessagePattern('health')
  @SkipQuota()
  health(): string {
    return 'ok';
  }

  @EventPattern('orders.seen')
  seen(message: unknown): void {
    events.push(message);
  }
}

@Module({})
class RpcModule {}

describe('a message handler', () => {
  let platform: SpecPlatform;
  let app: INestMicroservice;
  let client: ClientProxy;
  let options: { host: string; port: number };

  beforeAll(async () => {
    platform = await startPlatform();
    const module = {
      module: RpcModule, imports: [QuotaplaneModule.forRoot(platform.options)], controllers: [OrdersController], providers: [{ provide: APP_GUARD, useClass: MessageQuotaGuard }],
    };
    options = { host: '127.0.0.1', port: await freePort() };
    app = await NestFactory.createMicroservice(module, { transport: Transport.TCP, options, logger: false });
    await app.listen();
    client = ClientProxyFactory.create({ transport: Transport.TCP, options });
  });
  afterAll(async () => {
    await client.close();
    await app.close();
    await platform.stop();
  });

  const send = (pattern: string, message: OrderMessage & { isInternal?: boolean }): Promise<unknown> => firstValueFrom(client.send<unknown>(pattern, message));

  // Mutation: the guard reads a request that is not there.
  it('C065 is limited by a global guard with its own way to tell who calls; the error carries the problem', async () => {
    await platform.tenantWith('rpc', { limits: [limitOf({ limit: 1, burst: 4 })] });
    expect(await send('orders.create', { tenant: 'rpc', items: ['a', 'b', 'c'] })).toEqual({ created: 3 });
    await expect(send('orders.create', { tenant: 'rpc', items: ['d', 'e'] })).rejects.toMatchObject({
      code: 'rate_limited', status: 429, policy: 'per-minute', retryAfter: expect.any(Number),
      rateLimit: { 'RateLimit-Policy': '"per-minute";q=1;w=60;qp-burst=4', 'Retry-After': expect.any(String) },
    });
    await expect(lastValueFrom(client.send('orders.list', { tenant: 'rpc' }).pipe(toArray()))).rejects.toMatchObject({ code: 'cost_exceeds_limit' });
  });

  it('is left alone where it says so, or where the guard’s own hook does', async () => {
    await platform.tenantWith('closed', { limits: [limitOf({ limit: 0, burst: 0 })] });
    expect(await send('health', { tenant: 'closed' })).toBe('ok');
    expect(await send('orders.create', { tenant: 'closed', isInternal: true })).toEqual({ created: 0 });
    await expect(send('orders.create', { tenant: 'closed' })).rejects.toMatchObject({ code: 'rate_limited' });
  });

  it('counts callers of whom nothing is known by the address of their connection', async () => {
    await platform.tenantWith('anonymous', { limits: [limitOf({ name: 'address', scope: 'ip', limit: 1, burst: 1 })] });
    await send('orders.create', {});
    await expect(send('orders.create', {})).rejects.toMatchObject({ code: 'rate_limited', policy: 'address', scope: 'ip' });
  });

  it('is known by the API key in its packet’s metadata', async () => {
    await platform.tenantWith('keyed', { limits: [limitOf({ name: 'key', scope: 'key', limit: 1, burst: 1 })] });
    const keyed = ClientProxyFactory.create({ transport: Transport.TCP, options });
    keyed.setOnDispatchHook((packet) => void (packet.metadata = { 'X-Api-Key': 'demo-keyed' }));
    await firstValueFrom(keyed.send('orders.create', {}));
    await expect(firstValueFrom(keyed.send('orders.create', {}))).rejects.toMatchObject({ policy: 'key', scope: 'key' });
    await keyed.close();
  });

  it('does not reach a handler of events that is denied', async () => {
    await platform.tenantWith('events', { limits: [limitOf({ limit: 1, burst: 1 })] });
    await lastValueFrom(client.emit('orders.seen', { tenant: 'events', id: 1 }), { defaultValue: undefined });
    await lastValueFrom(client.emit('orders.seen', { tenant: 'events', id: 2 }), { defaultValue: undefined });
    // One connection, in order: the answer to this comes after both.
    await send('health', {});
    await expect.poll(() => events).toEqual([{ tenant: 'events', id: 1 }]);
  });

  it('gives back what it holds when its last value is out, when it fails, and at once when it is denied', async () => {
    await platform.tenantWith('slots', { limits: [limitOf({ limit: 1, burst: 2 })] });
    const ends: CallOutcome[] = [];
    const { decider } = app.get(GuardRuntime).node;
    const decide = decider.decide.bind(decider);
    const spy = vi.spyOn(decider, 'decide').mockImplementation(async (call) => ({ ...(await decide(call)), release: (outcome) => void ends.push(outcome) }));
    expect(await lastValueFrom(client.send('orders.held', { tenant: 'slots' }).pipe(toArray()))).toEqual([1, 2]);
    await expect(send('orders.fail', { tenant: 'slots' })).rejects.toMatchObject({ status: 'error' });
    await expect(send('orders.held', { tenant: 'slots' })).rejects.toMatchObject({ code: 'rate_limited' });
    spy.mockRestore();
    expect(ends.map(({ statusCode }) => statusCode)).toEqual([200, 500, 429]);
  });
});
