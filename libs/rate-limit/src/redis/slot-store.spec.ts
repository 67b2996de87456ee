import { redisKeys } from '@quotaplane/contracts';
import * as testing from '@quotaplane/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { slotKey } from '../counter-key';
import { checkOf, countOf, inGoodTime } from '../rig/connected';
import { REDIS_PLACES, startRedisPlace, type RedisPlace } from '../rig/redis-place';
import type { Charge, LimitStore, SlotCharge, Verdict } from '../store';
import type { LimitStoreOptions } from './store-options';

const LEASE_MS = 1_000;
const KEY = slotKey({ tenant: 't', name: 'in-flight', generation: 1 });
const slotOf = (limit: number, change: Partial<SlotCharge> = {}): SlotCharge => ({ kind: 'slot', counter: KEY, limit, isRegenerated: false, cost: 1, ...change });
const closedBucket: Charge = { kind: 'bucket', counter: 'qp:{t}:c:closed', limit: 0, windowMs: 1_000, capacity: 0, cost: 1 };

describe.each(REDIS_PLACES)('slots on %s', (kind) => {
  let place: RedisPlace;
  const stores: LimitStore[] = [];

  beforeAll(async () => {
    place = await startRedisPlace(kind, testing, 3);
  });

  afterAll(() => place.close());

  beforeEach(async () => {
    await place.flush();
    await place.redis.set(redisKeys.head('t'), '7.1');
  });

  afterEach(async () => {
    vi.restoreAllMocks();
    await Promise.all(stores.splice(0).map((store) => store.close()));
  });

  const node = (at = 0, options: LimitStoreOptions = {}): LimitStore => {
    const store = place.storeOf({ leaseMs: LEASE_MS, ...options }, at);
    stores.push(store);
    return store;
  };
  const ask = (store: LimitStore, charge: SlotCharge, ...more: Charge[]): Promise<Verdict> => store.judgeAndSpend(checkOf([charge, ...more]), inGoodTime());
  /** What everybody together holds, as Redis has it. */
  const inUse = async (key = KEY): Promise<number> => Object.entries(await place.redis.hgetall(key)).reduce((sum, [name, text]) => sum + (name === '#since' ? 0 : Number(text.split(':')[0])), 0);

  // Mutation: count each check of a batch from the stored fields alone; leave `own` out of the sum.
  it('gives exactly the cap over three nodes, and what is released again', async () => {
    const nodes = [node(0), node(1), node(2)];
    const verdicts = await Promise.all(Array.from({ length: 90 }, (_, at) => ask(nodes[at % 3]!, slotOf(7))));
    expect(countOf(verdicts, 'allowed')).toBe(7);
    expect(await inUse()).toBe(7);
    expect(verdicts.find(({ status }) => status === 'denied')).toMatchObject({ states: [{ remaining: 0, retryAfterMs: 1_000 }] });
    verdicts.forEach(({ status }, at) => status === 'allowed' && nodes[at % 3]!.release(KEY));
    expect(nodes.map((store) => store.slotsHeld)).toEqual([0, 0, 0]);
    await vi.waitFor(async () => expect(await inUse()).toBe(0));
    expect(countOf(await Promise.all(Array.from({ length: 20 }, () => ask(nodes[0]!, slotOf(7)))), 'allowed')).toBe(7);
  });

  // Mutation: drop the correction after a denial in settle().
  it('holds no slot of a check that another limit denied', async () => {
    const [store, other] = [node(0), node(1)];
    const verdicts = await Promise.all(Array.from({ length: 200 }, (_, at) => (at % 2 === 0 ? ask(store, slotOf(150), closedBucket) : ask(store, slotOf(150)))));
    expect(countOf(verdicts, 'allowed')).toBe(100);
    expect(store.slotsHeld).toBe(100);
    await vi.waitFor(async () => expect(await inUse()).toBe(100));
    expect(countOf(await Promise.all(Array.from({ length: 80 }, () => ask(other, slotOf(150)))), 'allowed')).toBe(50);
  });

  // Mutation: renew each lease instead of each third of it.
  it('C087 never gives a slot of a holder that renews, three leases long', async () => {
    const [holder, other] = [node(0), node(1)];
    for (let at = 0; at < 3; at += 1) expect((await ask(holder, slotOf(3))).status).toBe('allowed');
    const untilMs = performance.now() + 3 * LEASE_MS;
    while (performance.now() < untilMs) {
      expect((await ask(other, slotOf(3))).status).toBe('denied');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(holder.slotsHeld).toBe(3);
  });

  it('looks without taking', async () => {
    const store = node();
    await ask(store, slotOf(3));
    expect(await store.peek(checkOf([slotOf(3)]), inGoodTime())).toMatchObject({ status: 'allowed', states: [{ remaining: 2, retryAfterMs: 0 }] });
    expect(store.slotsHeld).toBe(1);
    expect(await inUse()).toBe(1);
  });

  // Mutation: leave the old key's count where it is when a new generation comes.
  it('writes what it holds to a new generation first, and gives nothing until the others had their time', async () => {
    const graceMs = 400;
    const [one, other] = [node(0, { graceMs }), node(1, { graceMs })];
    for (let at = 0; at < 2; at += 1) expect((await ask(one, slotOf(3))).status).toBe('allowed');
    await place.flush();
    await place.redis.set(redisKeys.head('t'), '7.1');
    const again = slotOf(3, { counter: slotKey({ tenant: 't', name: 'in-flight', generation: 2 }), isRegenerated: true });
    const early = await ask(other, again);
    expect(early).toMatchObject({ status: 'denied', states: [{ remaining: 0 }] });
    const waitMs = early.status === 'denied' ? (early.states[0]?.retryAfterMs ?? 0) : 0;
    expect(waitMs).toBeLessThanOrEqual(graceMs);
    expect((await ask(one, again)).status).toBe('denied');
    expect(await inUse(again.counter)).toBe(2);
    await new Promise((resolve) => setTimeout(resolve, waitMs + 20));
    expect(countOf(await Promise.all(Array.from({ length: 5 }, () => ask(other, again))), 'allowed')).toBe(1);
    // Released by the name it was taken under.
    one.release(KEY);
    await vi.waitFor(async () => expect(await inUse(again.counter)).toBe(2));
    expect((await ask(other, again)).status).toBe('allowed');
  });

  // Mutation: call onLost at the end of the lease that the store believes in, which is later; or release a lost slot once more.
  it('tells each holder once when its lease ended unheard, and takes their releases for nothing', async () => {
    const onSlotsLost = vi.fn();
    const store = node(0, { onSlotsLost });
    const told: number[] = [];
    const losers = Array.from({ length: 3 }, (_, at) => () => void told.push(at));
    for (const onLost of losers) await ask(store, slotOf(5, { onLost }));
    await ask(store, slotOf(5));
    store.release(KEY, losers[1]);
    const evalsha = vi.spyOn(place.clients[0]!, 'evalsha').mockRejectedValue(new Error('Connection is closed.'));
    await vi.waitFor(() => expect(told).toEqual([0, 2]), { timeout: 3 * LEASE_MS });
    expect(store.slotsHeld).toBe(0);
    expect(onSlotsLost).toHaveBeenCalledExactlyOnceWith(KEY, 3);
    evalsha.mockRestore();
    const onLost = (): void => undefined;
    expect((await ask(store, slotOf(5, { onLost }))).status).toBe('allowed');
    for (const lost of [losers[0], losers[2], undefined]) store.release(KEY, lost);
    expect(store.slotsHeld).toBe(1);
    await vi.waitFor(async () => expect(await inUse()).toBe(1));
    store.release(KEY, onLost);
    expect(store.slotsHeld).toBe(0);
  });

  // Mutation: hold a late admission's slot; or leave its count to the next renewal.
  it('holds nothing for a caller that has decided without it', async () => {
    const store = node(0, { leaseMs: 60_000 });
    await ask(store, slotOf(5));
    const late = place.clients[0]!;
    const evalsha = late.evalsha.bind(late);
    vi.spyOn(late, 'evalsha').mockImplementation(((...args: Parameters<typeof evalsha>) =>
      evalsha(...args).then((reply) => new Promise((resolve) => setTimeout(resolve, 200, reply)))) as typeof late.evalsha);
    expect(await store.judgeAndSpend(checkOf([slotOf(5)]), performance.now() + 5)).toMatchObject({ status: 'unavailable', cause: 'deadline' });
    await vi.waitFor(async () => expect(await inUse()).toBe(1), { timeout: 3_000 });
    expect(store.slotsHeld).toBe(1);
  });

  it('says how many are left: raised at once, lowered takes nobody\'s', async () => {
    const store = node();
    for (let at = 0; at < 3; at += 1) await ask(store, slotOf(3));
    expect(await ask(store, slotOf(2))).toMatchObject({ status: 'denied', states: [{ remaining: 0 }] });
    expect(await ask(store, slotOf(5))).toMatchObject({ status: 'allowed', states: [{ remaining: 1 }] });
    expect(await ask(store, slotOf(0))).toMatchObject({ status: 'denied', states: [{ remaining: 0, retryAfterMs: 86_400_000 }] });
    expect(store.slotsHeld).toBe(4);
  });
});
