import { redisKeys } from '@quotaplane/contracts';
import { FaultProxy, startRedis, type TestRedis } from '@quotaplane/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { checkOf, connected, inGoodTime } from '../rig/connected';
import { quotaOf } from '../rig/rates';
import type { QuotaCharge, Verdict } from '../store';
import { connectLimitRedis, type LimitRedis } from './connect-limit-redis';
import { RedisLimitStore } from './redis-limit-store';

const BUDGET_MS = 25;
/** Each way; long beside what a spec does between a reply and what follows it. */
const DELAY_MS = 250;
const COUNTER = quotaOf(1_000).counter;

let server: TestRedis;
let proxy: FaultProxy;
let direct: LimitRedis;
let redis: LimitRedis;
let store: RedisLimitStore;
/** Names of the checks whose doubt was told, as often as it was. */
let doubts: string[];

beforeEach(async () => {
  server = await startRedis();
  proxy = await FaultProxy.start(server.url);
  direct = await connected(connectLimitRedis(server.url));
  redis = await connected(connectLimitRedis(proxy.url));
  store = new RedisLimitStore({ redis, maxBatch: 2 });
  doubts = [];
  await direct.set(redisKeys.head('t'), '7.1');
  // The scripts are there, so that a call is one command.
  await store.judgeAndSpend(checkOf([units(1)]), inGoodTime());
  await direct.del(COUNTER);
});

afterEach(async () => {
  server.resume();
  await store.close();
  redis.disconnect();
  direct.disconnect();
  await proxy.stop();
  await server.stop();
});

const units = (cost: number): QuotaCharge => ({ ...quotaOf(1_000), cost });
const ask = (name: string, cost: number, deadlineAtMs = performance.now() + BUDGET_MS): Promise<Verdict> =>
  store.judgeAndSpend(checkOf([units(cost)], { onDoubt: () => doubts.push(name) }), deadlineAtMs);
const counted = async (): Promise<number> => Number((await direct.get(COUNTER)) ?? 0);
const untilCounted = (count: number): Promise<void> => vi.waitFor(async () => expect(await counted()).toBe(count), { timeout: 5_000, interval: 2 });
const untilDoubted = (...names: string[]): Promise<void> => vi.waitFor(() => expect(doubts).toEqual(names), { timeout: 5_000, interval: 5 });

describe('a call whose reply never comes', () => {
  // Mutation: leave doubt() out of run(); tell it of each part that looks, of each waiter that was not sent, or twice.
  it('is in doubt once for each check that cost something and went out', async () => {
    proxy.set({ kind: 'drop-replies' });
    // One alone, two that fill a batch, and one that waits for an answer.
    const asked = [ask('alone', 2, inGoodTime()), ask('second', 3, inGoodTime()), ask('look', 0, inGoodTime()), ask('waiting', 5, inGoodTime())];
    await untilCounted(5);
    expect(doubts).toEqual([]);
    proxy.resetConnections();
    for (const verdict of await Promise.all(asked)) expect(verdict).toMatchObject({ status: 'unavailable', cause: 'disconnected' });
    await untilDoubted('alone', 'second');
    await store.close();
    expect(doubts).toEqual(['alone', 'second']);
    expect(await counted()).toBe(5);
  });

  // Mutation: tell only those who have no answer yet.
  it('is in doubt after its deadline, too, once its connection is gone', async () => {
    proxy.set({ kind: 'drop-replies' });
    expect(await ask('late', 4)).toMatchObject({ status: 'unavailable', cause: 'deadline' });
    await untilCounted(4);
    expect(doubts).toEqual([]);
    proxy.resetConnections();
    await untilDoubted('late');
  });

  // Mutation: watch a call no longer once all its callers were answered.
  it('is in doubt within seconds also where no other call finds out that the connection is dead', async () => {
    proxy.set({ kind: 'drop-replies' });
    await ask('lonely', 4);
    await untilDoubted('lonely');
  });

  // Mutation: close without waiting for the calls under way, or without a word on those that stay.
  it('is in doubt before the store is closed', async () => {
    server.pause();
    const asked = ask('open', 4, inGoodTime());
    await new Promise(setImmediate);
    await store.close();
    expect(await asked).toMatchObject({ status: 'unavailable', cause: 'disconnected' });
    expect(doubts).toEqual(['open']);
    server.resume();
    // What comes all the same goes back, without another word.
    await untilCounted(0);
    expect(doubts).toEqual(['open']);
  });

  // Mutation: tell it again of the refund.
  it('is in doubt once where its refund fails after the store was closed', async () => {
    await store.judgeAndSpend(checkOf([units(10)]), inGoodTime());
    proxy.set({ kind: 'latency', delayMs: 3 * DELAY_MS });
    const asked = ask('open', 4, inGoodTime());
    await new Promise(setImmediate);
    const closed = store.close();
    expect((await asked).status).toBe('unavailable');
    await untilCounted(14);
    await direct.config('SET', 'maxmemory', '1');
    await closed;
    expect(doubts).toEqual(['open']);
    await vi.waitFor(async () => expect(await direct.info('errorstats')).toContain('errorstat_OOM'), { timeout: 5_000, interval: 20 });
    await redis.ping();
    expect([doubts, await counted()]).toEqual([['open'], 14]);
  });
});

describe('an "allowed" that comes too late', () => {
  // Mutation: tell the doubt of each late answer.
  it('is not in doubt once it was given back', async () => {
    server.pause();
    expect(await ask('late', 4)).toMatchObject({ status: 'unavailable', cause: 'deadline' });
    server.resume();
    await vi.waitFor(async () => expect(await direct.info('commandstats')).toContain('cmdstat_del:calls=2'));
    expect(await counted()).toBe(0);
    await store.close();
    expect(doubts).toEqual([]);
  });

  // Mutation: leave the answer of a refund unread.
  it.each(['refuses its refund', 'never answers its refund'] as const)('is in doubt when the store %s', async (how) => {
    await store.judgeAndSpend(checkOf([units(10)]), inGoodTime());
    proxy.set({ kind: 'latency', delayMs: DELAY_MS });
    expect(await ask('late', 4)).toMatchObject({ status: 'unavailable', cause: 'deadline' });
    await untilCounted(14);
    // Another turn of the server, so that its reply is on the way.
    await counted();
    if (how === 'refuses its refund') await direct.config('SET', 'maxmemory', '1');
    else server.pause();
    await untilDoubted('late');
    server.resume();
    await direct.config('SET', 'maxmemory', '0');
    // The store took the second one in the end: in doubt is what it may have.
    await untilCounted(how === 'refuses its refund' ? 14 : 10);
    expect(doubts).toEqual(['late']);
  });

  // Mutation: give back, or doubt, what was never spent.
  it('is not in doubt where the answer is no admission', async () => {
    const asked = (change: Parameters<typeof checkOf>[1], cost = 4): Promise<Verdict> =>
      store.judgeAndSpend(checkOf([units(cost)], { ...change, onDoubt: () => doubts.push('none') }), performance.now() + BUDGET_MS);
    for (const late of [() => asked({}, 2_000), () => asked({ knownHead: '6.1' }), () => asked({ untilMs: 1 }), () => asked({ tenant: 'nobody' })]) {
      server.pause();
      expect(await late()).toMatchObject({ status: 'unavailable', cause: 'deadline' });
      server.resume();
      await store.peek(checkOf([units(1)]), inGoodTime());
    }
    await store.close();
    expect(doubts).toEqual([]);
    expect(await counted()).toBe(0);
  });
});

describe('no doubt', () => {
  // Mutation: take every failed call for one that was sent.
  it('is there about what was never sent', async () => {
    proxy.set({ kind: 'reset' });
    // Within the same turn the client does not know yet; then it does.
    const first = await ask('unknowing', 4);
    await vi.waitFor(() => expect(redis.status).not.toBe('ready'));
    expect([first, await ask('knowing', 4)]).toMatchObject([{ status: 'unavailable' }, { status: 'unavailable', cause: 'disconnected' }]);
    await store.close();
    expect(await ask('closed', 4)).toMatchObject({ status: 'unavailable', cause: 'disconnected' });
    expect(doubts).not.toContain('knowing');
    expect(doubts).not.toContain('closed');
  });

  // Mutation: take an error reply for a connection that is gone.
  it('is there about a call that the store refuses as a whole', async () => {
    await store.judgeAndSpend(checkOf([units(10)]), inGoodTime());
    await direct.config('SET', 'maxmemory', '1');
    expect(await ask('refused', 4)).toMatchObject({ status: 'unavailable', cause: 'error' });
    await direct.config('SET', 'maxmemory', '0');
    await store.close();
    expect(doubts).toEqual([]);
    expect(await counted()).toBe(10);
  });

  // Mutation: tell it with every verdict.
  it('is there about a call that was answered, nor about one that asks for slots alone', async () => {
    expect((await ask('answered', 4, inGoodTime())).status).toBe('allowed');
    expect((await ask('denied', 2_000, inGoodTime())).status).toBe('denied');
    const slot = { kind: 'slot', counter: 'qp:{t}:n:tenant:1', limit: 5, isRegenerated: false, cost: 1 } as const;
    // Known to the store by then, or it would answer NOSCRIPT to nobody.
    expect((await store.judgeAndSpend(checkOf([{ ...slot, counter: 'qp:{t}:n:other:1' }]), inGoodTime())).status).toBe('allowed');
    proxy.set({ kind: 'drop-replies' });
    const asked = store.judgeAndSpend(checkOf([slot], { onDoubt: () => doubts.push('slot') }), inGoodTime());
    await vi.waitFor(async () => expect(await direct.exists(slot.counter)).toBe(1));
    proxy.resetConnections();
    await asked;
    await store.close();
    expect(doubts).toEqual([]);
  });
});
