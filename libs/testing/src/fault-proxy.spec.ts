import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { FaultProxy } from './fault-proxy';
import { startRedis, type TestRedis } from './redis';

const SILENCE_MS = 60;
let redis: TestRedis;
let direct: Redis;
let proxy: FaultProxy;
let client: Redis;

beforeAll(async () => {
  redis = await startRedis();
  direct = new Redis(redis.url);
});

afterAll(async () => {
  direct.disconnect();
  await redis.stop();
});

beforeEach(async () => {
  proxy = await FaultProxy.start(redis.url);
  client = new Redis(proxy.url, { retryStrategy: () => null, maxRetriesPerRequest: 0 });
  client.on('error', () => undefined);
  await client.set('x', '0');
});

afterEach(async () => {
  client.disconnect();
  await proxy.stop();
});

function settledWithin(reply: Promise<unknown>, ms: number): Promise<string> {
  const outcome = reply.then(
    () => 'answered',
    () => 'failed',
  );
  return Promise.race([outcome, new Promise<string>((resolve) => setTimeout(resolve, ms, 'silence'))]);
}

async function rawConnection(allowHalfOpen = true): Promise<Socket> {
  const socket = connect({ port: proxy.port, host: '127.0.0.1', allowHalfOpen });
  await once(socket, 'connect');
  return socket;
}

it('passes everything on without a fault', async () => {
  expect(await client.echo('hello')).toBe('hello');
  expect(proxy.openConnections).toBe(1);
});

it('delays both directions and keeps the order', async () => {
  proxy.set({ kind: 'latency', delayMs: 20, jitterMs: 20 });
  const startedAt = performance.now();
  const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => client.echo(String(i))));
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(40);
  expect(replies).toEqual(Array.from({ length: 20 }, (_, i) => String(i)));
});

it('hangs: the store sees nothing and the caller hears nothing', async () => {
  proxy.set({ kind: 'hang' });
  expect(await settledWithin(client.set('x', '1'), SILENCE_MS)).toBe('silence');
  expect(await direct.get('x')).toBe('0');
});

it('drops replies: the store acts and the caller hears nothing', async () => {
  proxy.set({ kind: 'drop-replies' });
  expect(await settledWithin(client.set('x', '1'), SILENCE_MS)).toBe('silence');
  expect(await direct.get('x')).toBe('1');
});

it('resets open and new connections', async () => {
  const socket = await rawConnection();
  const failure = once(socket, 'error');
  proxy.set({ kind: 'reset' });
  expect(((await failure) as [NodeJS.ErrnoException])[0].code).toBe('ECONNRESET');
  const late = connect({ port: proxy.port, host: '127.0.0.1' });
  expect(((await once(late, 'error')) as [NodeJS.ErrnoException])[0].code).toBe('ECONNRESET');
});

it('half-opens: the caller holds a connection that the store has forgotten', async () => {
  const socket = await rawConnection();
  proxy.set({ kind: 'half-open' });
  socket.write('PING\r\n');
  expect(await settledWithin(once(socket, 'data'), SILENCE_MS)).toBe('silence');
  expect(socket.readyState).toBe('open');
  socket.destroy();
});

it('half-closes: the caller gets the end and may still write', async () => {
  const socket = await rawConnection();
  const end = once(socket, 'end');
  socket.resume();
  proxy.set({ kind: 'half-close' });
  await end;
  expect(socket.writable).toBe(true);
  socket.destroy();
});

it('cuts a reply after the given number of bytes', async () => {
  proxy.set({ kind: 'drop-after', bytes: 3 });
  const socket = await rawConnection(false);
  let received = '';
  socket.on('data', (bytes) => (received += String(bytes)));
  socket.on('error', () => undefined);
  const closed = once(socket, 'close');
  socket.write('PING\r\n');
  await closed;
  expect(received).toBe('+PO');
});

it('slices replies without losing any byte', async () => {
  proxy.set({ kind: 'slice', bytes: 2 });
  expect(await client.echo('a longer reply')).toBe('a longer reply');
  const socket = await rawConnection();
  const pieces: string[] = [];
  socket.on('data', (bytes) => pieces.push(String(bytes)));
  socket.write('ECHO 0123456789\r\n');
  await expect.poll(() => pieces.join('')).toBe('$10\r\n0123456789\r\n');
  expect(pieces.length).toBeGreaterThan(1);
  socket.destroy();
});

it('jitters: equal requests take unequal times, none less than the delay', async () => {
  proxy.set({ kind: 'latency', delayMs: 5, jitterMs: 40 });
  const tookMs: number[] = [];
  for (let round = 0; round < 8; round += 1) {
    const startedAt = performance.now();
    await client.ping();
    tookMs.push(performance.now() - startedAt);
  }
  expect(Math.min(...tookMs)).toBeGreaterThanOrEqual(10);
  expect(Math.max(...tookMs) - Math.min(...tookMs)).toBeGreaterThan(5);
});

it('heals when the fault ends', async () => {
  proxy.set({ kind: 'reset' });
  proxy.set({ kind: 'none' });
  const again = new Redis(proxy.url);
  expect(await again.ping()).toBe('PONG');
  again.disconnect();
});
