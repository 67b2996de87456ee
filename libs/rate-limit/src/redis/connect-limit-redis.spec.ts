import { startTestRedisCluster, type TestRedisCluster } from '@quotaplane/testing';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { connectLimitRedis, type LimitRedis } from './connect-limit-redis';

let cluster: TestRedisCluster;
const clients: LimitRedis[] = [];

beforeAll(async () => {
  cluster = await startTestRedisCluster({ replicas: 1 });
}, 30_000);
afterEach(() => {
  for (const client of clients.splice(0)) client.disconnect();
});
afterAll(() => cluster.close());

async function connect(url = cluster.url): Promise<LimitRedis> {
  const client = connectLimitRedis(url);
  clients.push(client);
  await new Promise((resolve) => client.once('ready', resolve));
  return client;
}

/** The reply of a command that has to come at once, or the message of its failure. */
async function atOnce(reply: Promise<unknown>): Promise<unknown> {
  const silence = new Promise((resolve) => setTimeout(resolve, 500, 'silence'));
  return Promise.race([reply.catch((error: unknown) => String(error)), silence]);
}

const CLOSED = /Connection is closed|Redis Cluster is in state/;

it('learns the whole cluster from one address', async () => {
  const [seed] = cluster.url.split(',');
  const client = await connect(`${seed}?cluster=true`);
  for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) expect(await client.set(key, '1')).toBe('OK');
});

// Mutation: `enableOfflineQueue: false` of ioredis instead of PromptCluster.
it('answers the first commands to every node as soon as it is ready, each time', async () => {
  const [seed] = cluster.url.split(',');
  for (const url of [cluster.url, cluster.url, cluster.url, `${seed}?cluster=true`, `${seed}?cluster=true`, `${seed}?cluster=true`]) {
    const startedAtMs = performance.now();
    const client = await connect(url);
    expect(performance.now() - startedAtMs).toBeLessThan(1_000);
    await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((key) => client.get(key)));
  }
});

it('follows ASK and MOVED within one call, scripts too', async () => {
  const client = await connect();
  const script = "return redis.call('INCR', KEYS[1])";
  expect(await client.eval(script, 1, '{asked}')).toBe(1);
  const target = await cluster.slots.begin('{asked}');
  expect(await atOnce(client.eval(script, 1, '{asked}'))).toBe(2);
  await cluster.slots.finish('{asked}', target);
  expect(await atOnce(client.eval(script, 1, '{asked}'))).toBe(3);
});

// Mutation: leave retryDelayOnTryAgain at its default of 100 ms.
it('waits out a moment between two nodes in milliseconds', async () => {
  const client = await connect();
  await client.mset('{between}:a', '1', '{between}:b', '2');
  const target = await cluster.slots.begin('{between}', ['{between}:a']);
  const reply = atOnce(client.mget('{between}:a', '{between}:b'));
  await new Promise((resolve) => setTimeout(resolve, 20));
  await cluster.slots.finish('{between}', target);
  expect(await reply).toEqual(['1', '2']);
});

// Mutation: leave retryDelayOnFailover at its default.
it('never sends a command twice when its node dies, and serves again once a replica took over', async () => {
  const client = await connect();
  const owner = await cluster.masterOf('once');
  owner.server.pause();
  // Heard from the start: it is refused while the node is being killed.
  const unanswered = client.incr('once').catch(String);
  await owner.server.kill();
  expect(await atOnce(unanswered)).toMatch(CLOSED);
  await cluster.untilWhole();
  await expect.poll(() => client.get('once').catch(() => 'failed'), { timeout: 5_000 }).toBeNull();
  await owner.server.restart();
  await cluster.untilWhole();
}, 40_000);

it('is ready though the first node it asks is hung', async () => {
  const [hung] = cluster.nodes;
  hung?.server.pause();
  try {
    const startedAtMs = performance.now();
    await connect(cluster.nodes.map((node) => node.server.url).join(','));
    expect(performance.now() - startedAtMs).toBeLessThan(5_000);
  } finally {
    hung?.server.resume();
  }
  await cluster.untilWhole();
}, 40_000);

it('fails at once while the whole cluster is away, and comes back by itself', async () => {
  const client = await connect();
  await Promise.all(cluster.nodes.map((node) => node.server.kill()));
  await expect.poll(() => atOnce(client.get('x'))).toMatch(CLOSED);
  for (let round = 0; round < 5; round += 1) expect(await atOnce(client.get('x'))).toMatch(CLOSED);
  await Promise.all(cluster.nodes.map((node) => node.server.restart()));
  await cluster.untilWhole();
  await expect.poll(() => client.set('x', '1').catch(() => 'failed'), { timeout: 5_000 }).toBe('OK');
}, 40_000);
