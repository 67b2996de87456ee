import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { isAlive } from '../../../tools/stores/index.mjs';
import { startRedis, type TestRedis } from './redis';

let redis: TestRedis;
const clients: Redis[] = [];

beforeEach(async () => {
  redis = await startRedis();
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect();
  await redis.stop();
});

function connect(url = redis.url): Redis {
  const client = new Redis(url, { retryStrategy: () => 5, maxRetriesPerRequest: null });
  client.on('error', () => undefined);
  clients.push(client);
  return client;
}

it('never evicts and persists nothing', async () => {
  const client = connect();
  expect(await client.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
  expect(await client.config('GET', 'save')).toEqual(['save', '']);
  expect(await client.config('GET', 'appendonly')).toEqual(['appendonly', 'no']);
  expect(await client.config('GET', 'bind')).toEqual(['bind', '127.0.0.1']);
});

it('starts a second server in less than 300 ms', async () => {
  const startedAt = performance.now();
  const second = await startRedis();
  expect(performance.now() - startedAt).toBeLessThan(300);
  await second.stop();
});

it('keeps its data and port across a restart under another pid', async () => {
  await connect().set('kept', '1');
  const { pid } = redis;
  await redis.restart();
  expect(redis.pid).not.toBe(pid);
  expect(await connect().get('kept')).toBe('1');
});

it('comes back with nothing when restarted empty, also after a restart that kept data', async () => {
  await connect().set('lost', '1');
  await redis.restart();
  await redis.restart({ empty: true });
  expect(await connect().dbsize()).toBe(0);
});

it('can be killed and started again', async () => {
  await redis.kill();
  expect(isAlive(redis.pid)).toBe(false);
  await redis.restart();
  expect(await connect().ping()).toBe('PONG');
});

it('answers nothing while paused and everything after', async () => {
  const client = connect();
  await client.ping();
  redis.pause();
  const reply = client.ping();
  const winner = await Promise.race([reply, new Promise((resolve) => setTimeout(resolve, 60, 'silence'))]);
  expect(winner).toBe('silence');
  redis.resume();
  expect(await reply).toBe('PONG');
});

it('takes further configuration', async () => {
  const small = await startRedis({ config: ['maxmemory 2mb', 'cluster-enabled yes'] });
  expect(await connect(small.url).config('GET', 'maxmemory')).toEqual(['maxmemory', '2097152']);
  await small.stop();
});

it('ends when stopped while paused', async () => {
  redis.pause();
  await redis.stop();
  expect(isAlive(redis.pid)).toBe(false);
});
