import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { redisKeys } from '@quotaplane/contracts';
import { FaultProxy, figure, startRedis, startTestRedisCluster, type TestRedis } from '@quotaplane/testing';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { checkOf, connected, inGoodTime } from '../rig/connected';
import { KINDS, rateOf, stateOf } from '../rig/rates';
import type { Verdict } from '../store';
import { connectLimitRedis, type LimitRedis } from './connect-limit-redis';
import { createLimitStore } from './create-limit-store';
import { RedisLimitStore } from './redis-limit-store';

const BUDGET_MS = 25;
const pause = (forMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, forMs));
/** A day, so that no figure below mends itself. */
const DAY_MS = 86_400_000;
const charges = KINDS.map((kind) => ({ ...rateOf(kind, 100, DAY_MS), counter: `qp:{t}:c:${kind}` }));
const remainingOf = (verdict: Verdict): number[] => ('states' in verdict ? verdict.states.map(({ remaining }) => remaining) : []);
/** Of three calls: what is left of every algorithm. */
const AFTER_THREE = KINDS.map(() => 97);

/** A name that points to one server and later to another, as DNS or a moving address does; connections made stay where they are. */
class MovingName {
  private readonly sockets = new Set<Socket>();
  private constructor(private readonly server: Server, public target: number) {}

  static async start(target: number): Promise<MovingName> {
    const server = createServer();
    const name = new MovingName(server, target);
    server.on('connection', (caller) => {
      const store = connect(name.target, '127.0.0.1');
      for (const [from, to] of [[caller, store], [store, caller]] as const) {
        name.sockets.add(from);
        from.pipe(to).on('error', () => from.destroy());
        from.on('error', () => to.destroy());
      }
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return name;
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

describe('C029', () => {
  // Mutation: leave reconnectOnError out, and the client stays on the demoted server for ever.
  it('C029 is right again within 2 s of a promotion behind one name, without a restart', async () => {
    const [old, heir] = await Promise.all([startRedis(), startRedis()]);
    const name = await MovingName.start(old.port);
    const [oldAdmin, heirAdmin] = [new Redis(old.url), new Redis(heir.url)];
    await heirAdmin.replicaof('127.0.0.1', old.port);
    const redis = await connected(connectLimitRedis(name.url));
    const store = new RedisLimitStore({ redis });
    await redis.set(redisKeys.head('t'), '7.1');
    for (let call = 0; call < 3; call += 1) expect((await store.judgeAndSpend(checkOf(charges), inGoodTime())).status).toBe('allowed');
    await vi.waitFor(async () => expect(await heirAdmin.info('replication')).toContain('master_link_status:up'), { timeout: 10_000 });
    await oldAdmin.wait(1, 5_000);
    await heirAdmin.replicaof('NO', 'ONE');
    name.target = heir.port;
    await oldAdmin.replicaof('127.0.0.1', heir.port);
    const demotedAtMs = performance.now();
    const statuses: string[] = [];
    while (statuses.at(-1) !== 'allowed' && statuses.length < 500) {
      const verdict = await store.judgeAndSpend(checkOf(charges), performance.now() + BUDGET_MS);
      statuses.push(verdict.status);
      if (verdict.status === 'allowed') expect(remainingOf(verdict)).toEqual(KINDS.map(() => 96));
      await pause(10);
    }
    expect(performance.now() - demotedAtMs).toBeLessThan(2_000);
    expect(new Set(statuses)).toEqual(new Set(['unavailable', 'allowed']));
    expect(await heirAdmin.exists(...charges.map(({ counter }) => counter))).toBe(KINDS.length);
    await store.close();
    for (const client of [redis, oldAdmin, heirAdmin]) client.disconnect();
    await name.stop();
    await Promise.all([old.stop(), heir.stop()]);
  });

  // Mutation: never ask for the map of slots again (no MOVED, no refresh).
  it('C029 is right again within 2 s when a cluster demotes the master in use', { timeout: 60_000 }, async () => {
    const cluster = await startTestRedisCluster({ replicas: 1 });
    const redis = await connected(connectLimitRedis(cluster.url));
    const store = createLimitStore(redis);
    await redis.set(redisKeys.head('t'), '7.1');
    for (let call = 0; call < 3; call += 1) expect((await store.judgeAndSpend(checkOf(charges), inGoodTime())).status).toBe('allowed');
    const master = await cluster.masterOf(redisKeys.head('t'));
    await master.admin.wait(1, 5_000);
    const heir = cluster.nodes[(cluster.nodes.indexOf(master) + 3) % 6];
    await heir?.admin.call('CLUSTER', 'FAILOVER');
    await vi.waitFor(async () => expect(await heir?.isMaster()).toBe(true), { timeout: 15_000, interval: 10 });
    const promotedAtMs = performance.now();
    await vi.waitFor(async () => expect(remainingOf(await store.peek(checkOf(charges), performance.now() + BUDGET_MS))).toEqual(AFTER_THREE), { timeout: 5_000, interval: 10 });
    expect((await store.judgeAndSpend(checkOf(charges), inGoodTime())).status).toBe('allowed');
    expect(performance.now() - promotedAtMs).toBeLessThan(2_000);
    await store.close();
    redis.disconnect();
    await cluster.close();
  });
});

describe('one server', () => {
  let server: TestRedis;
  let redis: LimitRedis;
  let store: RedisLimitStore;

  const start = async (url: string): Promise<void> => {
    redis = await connected(connectLimitRedis(url));
    store = new RedisLimitStore({ redis });
    await redis.set(redisKeys.head('t'), '7.1');
  };
  const ask = (): Promise<Verdict> => store.judgeAndSpend(checkOf(charges), performance.now() + BUDGET_MS);

  beforeEach(async () => {
    server = await startRedis();
  });

  afterEach(async () => {
    await store.close();
    redis.disconnect();
    await server.stop();
  });

  // Mutation: connect anew for each call that fails; or a retryStrategy of 0 ms.
  it('C030 keeps one loop of reconnection with a back-off while 2,000 calls a second fail', async () => {
    await start(server.url);
    await server.kill();
    await vi.waitFor(() => expect(redis.status).not.toBe('ready'));
    let attempts = 0;
    const gone = createServer((socket) => {
      attempts += 1;
      socket.resetAndDestroy();
    });
    await new Promise<void>((resolve) => gone.listen(server.port, '127.0.0.1', resolve));
    const forMs = figure(3_000, 10_000);
    const fromMs = performance.now();
    const usedBefore = process.cpuUsage();
    const verdicts: Verdict[] = [];
    for (let sent = 0; performance.now() - fromMs < forMs;) {
      const due = Math.floor((performance.now() - fromMs) * 2) - sent;
      sent += due;
      verdicts.push(...(await Promise.all(Array.from({ length: due }, ask))));
      await pause(10);
    }
    const { user, system } = process.cpuUsage(usedBefore);
    const elapsedMs = performance.now() - fromMs;
    await new Promise((resolve) => gone.close(resolve));
    expect(verdicts.length).toBeGreaterThan(forMs);
    expect(verdicts.every(({ status }) => status === 'unavailable')).toBe(true);
    // 50, 100, 200, 400 and then every 500 ms.
    expect(attempts).toBeGreaterThan(2);
    expect(attempts).toBeLessThanOrEqual(4 + Math.ceil(elapsedMs / 500));
    expect((user + system) / 1_000 / elapsedMs).toBeLessThan(0.6);
    await server.restart();
    const backAtMs = performance.now();
    await vi.waitFor(async () => expect(['allowed', 'lost']).toContain((await ask()).status), { timeout: 5_000, interval: 20 });
    expect(performance.now() - backAtMs).toBeLessThan(2_000);
  });

  // Mutation: a client that sends what waits before it has chosen its database again.
  it('C031 writes to no other database, however often the connection is cut under load', async () => {
    const proxy = await FaultProxy.start(server.url);
    const [zero, five] = [new Redis(server.url), new Redis(`${server.url}/5`)];
    await start(`${proxy.url.replace(/\/$/, '')}/5`);
    expect((await store.judgeAndSpend(checkOf(charges), inGoodTime())).status).toBe('allowed');
    const statuses = new Set<string>();
    for (let cut = 0; cut < 25; cut += 1) {
      const crowd = Array.from({ length: 40 }, ask);
      await pause(cut % 4);
      proxy.resetConnections();
      for (const { status } of await Promise.all([...crowd, ...Array.from({ length: 40 }, ask)])) statuses.add(status);
      // From the very turn in which the connection is there again.
      await new Promise<void>((resolve) => (redis.status === 'ready' ? resolve() : void redis.once('connect', () => resolve())));
      for (const { status } of await Promise.all(Array.from({ length: 40 }, ask))) statuses.add(status);
    }
    expect([...statuses].every((status) => ['allowed', 'denied', 'unavailable'].includes(status))).toBe(true);
    expect(await zero.dbsize()).toBe(0);
    expect(await five.dbsize()).toBe(1 + KINDS.length);
    // What the calls of the load say and what database 5 holds are one count.
    expect(stateOf(await connected(redis).then(() => store.peek(checkOf(charges), inGoodTime()))).remaining).toBeLessThan(100);
    for (const client of [zero, five]) client.disconnect();
    await proxy.stop();
  });
});
