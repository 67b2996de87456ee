import { Module, UseFilters, UseGuards, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { io, type Socket } from 'socket.io-client';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { Cost, LimitConcurrency, QuotaGuard, QuotaplaneModule, QuotaProblemFilter, type CallOutcome } from '../index';
import { GuardRuntime } from '../module/guard-runtime';
import { limitOf } from './policies';
import { startPlatform, type SpecPlatform } from './spec-platform';

@WebSocketGateway()
@UseGuards(QuotaGuard)
@UseFilters(QuotaProblemFilter)
class ChatGateway {
  @SubscribeMessage('say')
  @LimitConcurrency()
  @Cost(({ body }) => (body as { text: string }).text.length)
  say(@MessageBody() { text }: { text: string }): string {
    return text.toUpperCase();
  }
}

@Module({})
class ChatModule {}

describe('a WebSocket gateway', () => {
  let platform: SpecPlatform;
  let app: INestApplication;
  let url: string;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    platform = await startPlatform();
    app = await NestFactory.create({ module: ChatModule, imports: [QuotaplaneModule.forRoot(platform.options)], providers: [ChatGateway] }, new ExpressAdapter(), { logger: false });
    app.useWebSocketAdapter(new IoAdapter(app));
    await app.listen(0, '127.0.0.1');
    url = (await app.getUrl()).replace('[::1]', '127.0.0.1');
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.disconnect();
  });
  afterAll(async () => {
    await app.close();
    await platform.stop();
  });

  const connected = (extraHeaders: Record<string, string>): Socket => {
    const socket = io(url, { extraHeaders, transports: ['websocket'] });
    sockets.push(socket);
    return socket;
  };

  it('is limited by the key that its connection was opened with; a denial is in the ack', async () => {
    const socket = connected(await platform.tenantWith('chat', { limits: [limitOf({ limit: 1, burst: 5 })] }));
    expect(await socket.emitWithAck('say', { text: 'four' })).toBe('FOUR');
    expect(await socket.emitWithAck('say', { text: 'two' })).toMatchObject({
      code: 'rate_limited', status: 429, policy: 'per-minute', retryAfter: expect.any(Number), rateLimit: { 'RateLimit-Remaining': '1', 'Retry-After': expect.any(String) },
    });
  });

  it('tells a denial in an exception event where no ack was asked for', async () => {
    const socket = connected(await platform.tenantWith('silent', { limits: [limitOf({ limit: 0, burst: 0 })] }));
    const exception = new Promise((resolve) => socket.once('exception', resolve));
    socket.emit('say', { text: 'x' });
    expect(await exception).toMatchObject({ code: 'rate_limited', status: 429 });
  });

  it('refuses a connection’s events where its key is wrong', async () => {
    expect(await connected({ 'X-Api-Key': 'nonsense' }).emitWithAck('say', { text: 'x' })).toMatchObject({ code: 'unauthenticated', status: 401 });
  });

  it('gives back what an event holds when it has been handled', async () => {
    const socket = connected(await platform.tenantWith('slots'));
    const ends: CallOutcome[] = [];
    const { decider } = app.get(GuardRuntime).node;
    const decide = decider.decide.bind(decider);
    const spy = vi.spyOn(decider, 'decide').mockImplementation(async (call) => ({ ...(await decide(call)), release: (outcome) => void ends.push(outcome) }));
    await socket.emitWithAck('say', { text: 'x' });
    spy.mockRestore();
    expect(ends).toEqual([{ statusCode: 200, isAborted: false }]);
  });
});
