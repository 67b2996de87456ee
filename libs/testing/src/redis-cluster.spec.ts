import { Cluster } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { isAlive } from '../../../tools/stores/index.mjs';
import { startTestRedisCluster, type TestRedisCluster } from './redis-cluster';

const clients: Cluster[] = [];

function connect(cluster: TestRedisCluster): Cluster {
  const client = new Cluster(cluster.url.split(','), { slotsRefreshInterval: 200 });
  client.on('error', () => undefined);
  clients.push(client);
  return client;
}

afterEach(() => {
  for (const client of clients.splice(0)) client.disconnect();
});

describe('three masters', () => {
  let cluster: TestRedisCluster;
  beforeAll(async () => {
    cluster = await startTestRedisCluster();
  }, 30_000);
  afterAll(() => cluster.close());

  it('serves all slots from three masters', async () => {
    const client = connect(cluster);
    const owners = new Set<string>();
    for (let index = 0; index < 60; index += 1) {
      await client.set(`key-${index}`, String(index));
      owners.add((await cluster.masterOf(`key-${index}`)).id);
    }
    expect(owners.size).toBe(3);
    expect(await client.get('key-7')).toBe('7');
  });

  it('refuses a script whose keys are in two slots', async () => {
    const client = connect(cluster);
    await expect(client.eval('return 1', 2, '{a}', '{b}')).rejects.toThrow('CROSSSLOT');
  });

  it('answers ASK while a slot is half moved and MOVED when it is over', async () => {
    const client = connect(cluster);
    const [gone, kept] = ['{half}:gone', '{half}:kept'];
    await client.mset(gone, '1', kept, '2');
    const owner = await cluster.masterOf(gone);
    const target = await cluster.slots.begin(gone, [gone]);
    await expect(owner.admin.get(gone)).rejects.toThrow(/^ASK /);
    await expect(owner.admin.mget(gone, kept)).rejects.toThrow(/^TRYAGAIN /);
    expect(await owner.admin.get(kept)).toBe('2');
    expect(await client.get(gone)).toBe('1');

    await cluster.slots.finish(gone, target);
    await expect(owner.admin.get(kept)).rejects.toThrow(/^MOVED /);
    expect(await client.mget(gone, kept)).toEqual(['1', '2']);
    expect(await cluster.masterOf(gone)).toBe(target);
  });

  it('moves a slot as a whole', async () => {
    const client = connect(cluster);
    await client.set('{whole}:x', '1');
    const before = await cluster.masterOf('{whole}:x');
    const after = await cluster.slots.move('{whole}:x');
    expect(after).not.toBe(before);
    expect(await client.get('{whole}:x')).toBe('1');
  });

  it('is emptied by flush', async () => {
    await cluster.flush();
    for (const node of cluster.nodes) expect(await node.admin.dbsize()).toBe(0);
  });
});

it('survives the death of a master that has a replica, and takes it back', async () => {
  const cluster = await startTestRedisCluster({ replicas: 1 });
  try {
    const client = connect(cluster);
    // On one connection: a client of the whole cluster sends WAIT to any of its nodes, which waits for nothing.
    const { admin } = await cluster.masterOf('survivor');
    await admin.set('survivor', '1');
    expect(await admin.wait(1, 10_000)).toBe(1);
    const dead = await cluster.killMasterOf('survivor');
    await cluster.untilWhole();
    expect(await cluster.masterOf('survivor')).not.toBe(dead);
    expect(await client.get('survivor')).toBe('1');
    await dead.server.restart();
    await cluster.untilWhole();
    await expect.poll(() => dead.isMaster(), { timeout: 10_000 }).toBe(false);
  } finally {
    await cluster.close();
  }
  expect(cluster.nodes.map((node) => isAlive(node.server.pid))).toEqual(cluster.nodes.map(() => false));
}, 60_000);
