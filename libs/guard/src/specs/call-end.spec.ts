import { Agent, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { Controller, Get, HttpException, Module, Res, StreamableFile, UseGuards, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { LimitConcurrency, QuotaGuard, QuotaplaneModule, type CallOutcome } from '../index';
import type { Call } from '../decide/call';
import { GuardRuntime } from '../module/guard-runtime';
import { ADAPTERS } from './guarded-app';
import { limitOf } from './policies';
import { startPlatform, type SpecPlatform } from './spec-platform';

async function* endless(): AsyncGenerator<string> {
  for (;;) {
    yield 'more\n';
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

@Controller()
@UseGuards(QuotaGuard)
class EndingController {
  @Get('ok')
  @LimitConcurrency()
  ok(): object {
    return {};
  }

  @Get('teapot')
  teapot(): never {
    throw new HttpException('short and stout', 418);
  }

  @Get('crash')
  crash(): never {
    throw new Error('not an HTTP error');
  }

  @Get('stream')
  stream(): StreamableFile {
    return new StreamableFile(Readable.from(['one,', 'two']));
  }

  @Get('endless')
  endless(): StreamableFile {
    return new StreamableFile(Readable.from(endless()));
  }

  @Get('raw')
  raw(@Res() answer: { raw?: NodeJS.WritableStream } & NodeJS.WritableStream): void {
    (answer.raw ?? answer).end('raw');
  }

  @Get('held')
  async held(): Promise<object> {
    await new Promise((resolve) => setTimeout(resolve, 200));
    return {};
  }
}

@Module({})
class EndingModule {}

describe.each(ADAPTERS)('the end of a call on %s', (adapter) => {
  let platform: SpecPlatform;
  let app: INestApplication;
  let port: number;
  const ends: CallOutcome[] = [];
  const calls: Call[] = [];
  let cutOff: (() => void) | undefined;

  beforeAll(async () => {
    platform = await startPlatform();
    await platform.tenantWith('ending', { limits: [limitOf({ limit: 1, burst: 100_000 })] });
    await platform.tenantWith('denied', { limits: [limitOf({ limit: 0, burst: 0 })] });
    const module = { module: EndingModule, imports: [QuotaplaneModule.forRoot(platform.options)], controllers: [EndingController] };
    app = await NestFactory.create(module, adapter === 'fastify' ? new FastifyAdapter() : new ExpressAdapter(), { logger: false });
    // The decisions of the store, each with something to give back.
    const { decider } = app.get(GuardRuntime).node;
    const decide = decider.decide.bind(decider);
    vi.spyOn(decider, 'decide').mockImplementation(async (call) => {
      calls.push(call);
      return { ...(await decide(call)), release: (outcome) => void ends.push(outcome), whenSlotLost: (end) => void (cutOff = end) };
    });
    await app.listen(0, '127.0.0.1');
    port = Number(new URL(await app.getUrl()).port);
  });
  afterAll(async () => {
    await app.close();
    await platform.stop();
  });
  beforeEach(() => {
    ends.length = 0;
    calls.length = 0;
  });

  const url = (path: string): string => `http://127.0.0.1:${port}${path}`;
  const call = async (path: string, tenant = 'ending', init: RequestInit = {}): Promise<number> => {
    const answer = await fetch(url(path), { ...init, headers: { 'X-Api-Key': `demo-${tenant}` } });
    await answer.arrayBuffer();
    return answer.status;
  };
  /** Long enough for a second report of the same end to be seen. */
  const settled = async (): Promise<CallOutcome[]> => {
    await expect.poll(() => ends.length).toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, 50));
    return ends;
  };

  it.each([
    ['/ok', 'GET', 200],
    ['/teapot', 'GET', 418],
    ['/crash', 'GET', 500],
    ['/stream', 'GET', 200],
    ['/raw', 'GET', 200],
    ['/ok', 'HEAD', 200],
  ])('is told once for %s by %s', async (path, method, statusCode) => {
    expect(await call(path, 'ending', { method })).toBe(statusCode);
    expect(await settled()).toEqual([{ statusCode, isAborted: false }]);
  });

  it('is told once where the guard denies', async () => {
    expect(await call('/ok', 'denied')).toBe(429);
    expect(await settled()).toEqual([{ statusCode: 429, isAborted: false }]);
  });

  it('tells the store which calls hold a slot', async () => {
    await call('/ok');
    await call('/raw');
    expect(calls.map(({ holdsSlot }) => holdsSlot)).toEqual([true, undefined]);
  });

  const opened = (path: string, agent?: Agent): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => get(url(path), { headers: { 'X-Api-Key': 'demo-ending' }, ...(agent ? { agent } : {}) }, resolve).on('error', reject));

  it('is told once where the caller goes away in mid-stream', async () => {
    const answer = await opened('/endless');
    await new Promise((resolve) => answer.once('data', resolve));
    expect(ends).toEqual([]);
    answer.destroy();
    expect(await settled()).toEqual([{ statusCode: 200, isAborted: true }]);
  });

  it('is told once for each of the answers of one connection, which keeps no listener of them', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const warned = vi.fn();
    process.on('warning', warned);
    for (let index = 0; index < 20; index += 1) for await (const _chunk of await opened('/stream', agent));
    agent.destroy();
    await settled();
    expect(ends).toEqual(Array.from({ length: 20 }, () => ({ statusCode: 200, isAborted: false })));
    process.off('warning', warned);
    expect(warned).not.toHaveBeenCalled();
  });

  // Fails when only the response is watched: one that waits behind another is told nothing when its connection ends; and when each answer listens to
  // the connection by itself: Node then warns of a leak, in a line for each connection that a client chooses to open.
  it('is told once for pipelined answers whose connection ends, however many, and nothing is warned of', async () => {
    const pipelined = 30;
    const warned = vi.fn();
    process.on('warning', warned);
    const socket = connect(port, '127.0.0.1');
    socket.write(`GET /held HTTP/1.1\r\nHost: here\r\nX-Api-Key: demo-ending\r\n\r\n`.repeat(pipelined));
    await expect.poll(() => calls.length).toBe(pipelined);
    socket.destroy();
    await expect.poll(() => ends.length).toBe(pipelined);
    await new Promise((resolve) => setTimeout(resolve, 300));
    process.off('warning', warned);
    expect(ends).toHaveLength(pipelined);
    expect(ends.every(({ isAborted }) => isAborted)).toBe(true);
    expect(warned).not.toHaveBeenCalled();
  });

  it('comes at once where the slot was lost: the answer is cut off', async () => {
    const answer = await opened('/endless');
    await new Promise((resolve) => answer.once('data', resolve));
    const ended = new Promise((resolve) => answer.once('close', resolve));
    answer.once('error', () => undefined);
    cutOff?.();
    await ended;
    expect(answer.complete).toBe(false);
    expect(await settled()).toEqual([{ statusCode: 200, isAborted: true }]);
  });
});
