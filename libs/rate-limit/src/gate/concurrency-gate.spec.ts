import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { connectLimitRedis, type LimitRedis } from '../redis/connect-limit-redis';
import { createLimitStore } from '../redis/create-limit-store';
import { connected } from '../rig/connected';
import type { LimitStore } from '../store';
import { createConcurrencyGate, type ConcurrencyGate, type ConcurrencyGateOptions } from './concurrency-gate';
import { GateFullError, GateTimeoutError, InvalidGateOptionError } from './gate-errors';

let server: TestRedis;
let clients: LimitRedis[];
let stores: LimitStore[];

beforeAll(async () => {
  server = await startRedis();
  clients = await Promise.all(Array.from({ length: 3 }, () => connected(connectLimitRedis(server.url))));
});

afterAll(async () => {
  for (const client of clients) client.disconnect();
  await server.stop();
});

beforeEach(async () => {
  await clients[0]!.flushall();
  stores = clients.map((redis) => createLimitStore(redis, { leaseMs: 1_000 }));
});

afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(stores.map((store) => store.close()));
});

const gateOf = (change: Partial<ConcurrencyGateOptions> = {}): ConcurrencyGate =>
  createConcurrencyGate({ store: stores[0]!, tenant: 't', name: 'pool', limit: 2, maxQueue: 10, maxWaitMs: 5_000, deadlineMs: 1_000, ...change });

/** A task that ends when told to. */
const held = (): { readonly task: () => Promise<string>; end: (value?: string) => void; fail: (error: Error) => void } => {
  let settle: { resolve: (value: string) => void; reject: (error: Error) => void } | undefined;
  const promise = new Promise<string>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { task: () => promise, end: (value = 'done') => settle?.resolve(value), fail: (error) => settle?.reject(error) };
};

const inUse = async (): Promise<number> => Object.values(await clients[0]!.hgetall('qp:{t}:n:pool:1')).reduce((sum, text) => sum + Number(text.split(':')[0]), 0);

describe('a pool of connections', () => {
  let postgres: TestPostgres;
  let pools: pg.Pool[];

  beforeAll(async () => {
    postgres = await startPostgres({ migrationsDir: null });
    pools = Array.from({ length: 3 }, () => new pg.Pool({ connectionString: postgres.url, max: 10 }));
  });

  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    await postgres.stop();
  });

  // Mutation: a cap for each process; release when the task begins.
  it('lets a tenant use 4 of the connections at once over three processes, whatever it asks for', async () => {
    const gates = stores.map((store) => gateOf({ store, limit: 4, maxQueue: 100, maxWaitMs: 20_000 }));
    const running = "SELECT count(*)::int AS count FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active' AND pid <> pg_backend_pid()";
    let [most, isWatching] = [0, true];
    const watch = (async () => {
      while (isWatching) most = Math.max(most, (await pools[0]!.query<{ count: number }>(running)).rows[0]?.count ?? 0);
    })();
    const done = await Promise.all(Array.from({ length: 60 }, (_, at) => gates[at % 3]!.run(() => pools[at % 3]!.query('SELECT pg_sleep(0.02)').then(() => at))));
    isWatching = false;
    await watch;
    expect(done).toEqual(Array.from({ length: 60 }, (_, at) => at));
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(4);
    expect(gates.map((gate) => [gate.running, gate.waiting])).toEqual([[0, 0], [0, 0], [0, 0]]);
    await vi.waitFor(async () => expect(await inUse()).toBe(0));
  });
});

describe('the queue', () => {
  // Mutation: take the newest waiter first; let a newcomer pass those that wait.
  it('serves in the order of arrival, and asks again as soon as a task of its own ends', async () => {
    const gate = gateOf({ limit: 1 });
    const order: number[] = [];
    const startedAtMs = performance.now();
    await Promise.all(Array.from({ length: 8 }, (_, at) => gate.run(() => void order.push(at))));
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    // Well below the store's hint of 1 s.
    expect(performance.now() - startedAtMs).toBeLessThan(900);
  });

  // Mutation: wait for a release of one's own alone.
  it('finds what another process gave back after the hint', async () => {
    const [mine, other] = [gateOf({ limit: 1 }), gateOf({ limit: 1, store: stores[1]! })];
    const first = held();
    const running = other.run(first.task);
    await vi.waitFor(() => expect(other.running).toBe(1));
    const waits = mine.run(() => 'mine');
    await vi.waitFor(() => expect(mine.waiting).toBe(1));
    first.end();
    expect(await running).toBe('done');
    expect(await waits).toBe('mine');
  });

  // Mutation: `>` in place of `>=` at maxQueue.
  it('refuses a task when as many wait as may, and one that waited too long', async () => {
    const gate = gateOf({ limit: 1, maxQueue: 1, maxWaitMs: 150 });
    const first = held();
    const running = gate.run(first.task);
    await vi.waitFor(() => expect(gate.running).toBe(1));
    const waits = gate.run(() => 'late');
    await vi.waitFor(() => expect(gate.waiting).toBe(1));
    await expect(gate.run(() => 'never')).rejects.toThrow(GateFullError);
    await expect(waits).rejects.toThrow(GateTimeoutError);
    expect(gate.waiting).toBe(0);
    first.end();
    expect(await running).toBe('done');
    expect(await gate.run(() => 'again')).toBe('again');
  });

  it('runs nothing at limit 0, and takes no figure that is none', async () => {
    await expect(gateOf({ limit: 0, maxWaitMs: 50 }).run(() => 'never')).rejects.toThrow(GateTimeoutError);
    await expect(gateOf({ limit: 0, maxQueue: 0 }).run(() => 'never')).rejects.toThrow(GateFullError);
    expect(() => gateOf({ limit: -1 })).toThrow(InvalidGateOptionError);
    expect(() => gateOf({ maxWaitMs: Number.NaN })).toThrow(InvalidGateOptionError);
    expect(() => gateOf({ maxWaitMs: 2 ** 31 })).toThrow(InvalidGateOptionError);
  });
});

describe('the end of a task', () => {
  // Mutation: release in `then` alone; or twice.
  it('gives its slot back exactly once, also when it throws', async () => {
    const release = vi.spyOn(stores[0]!, 'release');
    const gate = gateOf({ limit: 2 });
    const failure = new RangeError('of the task');
    await expect(gate.run(() => Promise.reject(failure))).rejects.toBe(failure);
    await expect(gate.run(() => { throw failure; })).rejects.toBe(failure);
    expect(await gate.run(() => 'fine')).toBe('fine');
    expect(release).toHaveBeenCalledTimes(3);
    expect(stores[0]!.slotsHeld).toBe(0);
  });

  // Mutation: leave an aborted task in the queue; release its slot while it still runs.
  it('leaves the queue when it is aborted, and holds its slot until it has settled', async () => {
    const gate = gateOf({ limit: 1 });
    const first = held();
    const [waiting, running] = [new AbortController(), new AbortController()];
    let seen: AbortSignal | undefined;
    const runs = gate.run((signal) => {
      seen = signal;
      return first.task();
    }, { signal: running.signal });
    await vi.waitFor(() => expect(gate.running).toBe(1));
    const waits = gate.run(() => 'never', { signal: waiting.signal });
    await vi.waitFor(() => expect(gate.waiting).toBe(1));
    waiting.abort(new RangeError('left'));
    await expect(waits).rejects.toThrow('left');
    running.abort(new RangeError('stopped'));
    expect(seen?.aborted).toBe(true);
    expect(gate.running).toBe(1);
    first.fail(new RangeError('stopped'));
    await expect(runs).rejects.toThrow('stopped');
    expect([gate.running, gate.waiting, stores[0]!.slotsHeld]).toEqual([0, 0, 0]);
    await expect(gate.run(() => 'never', { signal: AbortSignal.abort(new RangeError('before')) })).rejects.toThrow('before');
  });

  it('is told when its slot was lost', async () => {
    const gate = gateOf();
    let seen: AbortSignal | undefined;
    const first = held();
    const running = gate.run((signal) => {
      seen = signal;
      return first.task();
    });
    await vi.waitFor(() => expect(gate.running).toBe(1));
    vi.spyOn(clients[0]!, 'evalsha').mockRejectedValue(new Error('Connection is closed.'));
    await vi.waitFor(() => expect(seen?.aborted).toBe(true), { timeout: 3_000 });
    first.end();
    expect(await running).toBe('done');
    vi.restoreAllMocks();
    expect(stores[0]!.slotsHeld).toBe(0);
    expect(await gate.run(() => 'again')).toBe('again');
  });
});

describe('the store away', () => {
  // Mutation: count only the slots of the store.
  it('keeps to this process\'s share, and waits for it', async () => {
    const gate = gateOf({ limit: 6, shareOf: (limit) => limit / 3, maxWaitMs: 400, deadlineMs: 25 });
    const tasks = Array.from({ length: 4 }, held);
    const first = gate.run(tasks[0]!.task);
    await vi.waitFor(() => expect(gate.running).toBe(1));
    server.pause();
    const rest = tasks.slice(1).map(({ task }) => gate.run(task));
    await vi.waitFor(() => expect(gate.running).toBe(2));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(gate.running).toBe(2);
    for (const { end } of tasks) end();
    expect(await Promise.all([first, ...rest])).toEqual(['done', 'done', 'done', 'done']);
    server.resume();
    await vi.waitFor(async () => expect(await inUse()).toBe(0), { timeout: 5_000 });
  });
});
