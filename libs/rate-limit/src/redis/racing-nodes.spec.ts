import { redisKeys } from '@quotaplane/contracts';
import * as testing from '@quotaplane/testing';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { admitted } from '../admitted';
import { slotKey } from '../counter-key';
import { checkOf, countOf, inGoodTime } from '../rig/connected';
import { DAY_START_MS, KINDS, rateOf, stateOf } from '../rig/rates';
import { REDIS_PLACES, startRedisPlace, type RedisPlace } from '../rig/redis-place';
import type { Charge, LimitStore, SlotCharge, Verdict } from '../store';

const slotOf = (limit: number): SlotCharge => ({ kind: 'slot', counter: slotKey({ tenant: 't', name: 'in-flight', generation: 1 }), limit, isRegenerated: false, cost: 1 });

describe.each(REDIS_PLACES)('two nodes on %s', (kind) => {
  let place: RedisPlace;
  let clock: testing.TestClock;
  const stores: LimitStore[] = [];

  beforeAll(async () => {
    place = await startRedisPlace(kind, testing, 2);
  });

  afterAll(() => place.close());

  beforeEach(async () => {
    clock = new testing.TestClock(DAY_START_MS);
    await place.flush();
    await place.redis.set(redisKeys.head('t'), '7.1');
  });

  afterEach(async () => {
    vi.restoreAllMocks();
    await Promise.all(stores.splice(0).map((store) => store.close()));
  });

  const nodes = (): LimitStore[] => {
    stores.push(...place.clients.map((_, at) => place.storeOf({ testClock: clock.now }, at)));
    return stores;
  };
  const ask = (store: LimitStore | undefined, ...charges: Charge[]): Promise<Verdict> => {
    if (store === undefined) throw new RangeError('no such node');
    return store.judgeAndSpend(checkOf(charges), inGoodTime());
  };

  // Mutation: add, look and undo, so that racers who all see too many all back out; or count own and others' slots of two moments.
  it('C013 gives exactly two of four racers what there are two of, each round anew', async () => {
    const pair = nodes();
    for (let round = 0; round < 25; round += 1) {
      const verdicts = await Promise.all(Array.from({ length: 4 }, (_, at) => ask(pair[at % 2], slotOf(2))));
      expect(countOf(verdicts, 'allowed')).toBe(2);
      for (const [at, { status }] of verdicts.entries()) if (status === 'allowed') pair[at % 2]?.release(slotOf(2).counter);
      await vi.waitFor(async () => expect(stateOf(await pair[0]!.peek(checkOf([slotOf(2)]), inGoodTime())).remaining).toBe(2), { interval: 5 });
    }
  });

  // Mutation: as above, for any algorithm; or spend in a second call after judging.
  it.each(KINDS)('C013 lets as many racers through as there is room, for any cap and crowd: %s', async (algorithm) => {
    const pair = nodes();
    let at = 0;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 30 }), async (cap, crowd) => {
        at += 1;
        const rate = { ...rateOf(algorithm, cap), counter: `qp:{t}:c:race-${at}` };
        const verdicts = await Promise.all(Array.from({ length: crowd }, (_, caller) => ask(pair[caller % 2], rate)));
        expect(countOf(verdicts, 'allowed')).toBe(Math.min(cap, crowd));
      }),
      { numRuns: 25 },
    );
  });

  // Mutation: reckon a reset, or a window's start, by the node's own clock.
  it.each(KINDS)('C025 denies none of 5 calls a second of 10 for a minute, and no reset goes back: %s', async (algorithm) => {
    const pair = nodes();
    const real = Date.now.bind(Date);
    let lastResetMs = 0;
    for (let call = 0; call < 300; call += 1) {
      clock.advance(200);
      vi.spyOn(Date, 'now').mockImplementation(() => real() + (call % 2 === 0 ? 3_600_000 : -3_600_000));
      const verdict = await ask(pair[call % 2], rateOf(algorithm, 10, 1_000));
      if (verdict.status !== 'allowed') throw new TypeError(`call ${call} is ${verdict.status}`);
      const resetMs = verdict.nowMs + stateOf(verdict).resetAfterMs;
      expect(resetMs).toBeGreaterThanOrEqual(lastResetMs);
      lastResetMs = resetMs;
    }
  });

  // Mutation: send the source again for judge-and-spend alone.
  it('C033 heals each verb by itself once the scripts are gone, in whatever order they are called', async () => {
    const [one, other] = nodes() as [LimitStore, LimitStore];
    const rate = { ...rateOf('log', 1_000), cost: 2 };
    const charges = [rate];
    let left = 1_000;
    const verbs = {
      judge: async () => {
        expect((await ask(one, rate)).status).toBe('allowed');
        left -= 2;
      },
      peek: async () => expect(stateOf(await other.peek(checkOf(charges), inGoodTime())).remaining).toBe(left),
      refund: async () => {
        const verdict = await ask(one, rate);
        if (verdict.status !== 'allowed') throw new TypeError('not admitted');
        await place.flushScripts();
        expect(await one.refund(admitted(charges, verdict), inGoodTime())).toBe(true);
      },
      acquire: async () => {
        expect((await ask(one, slotOf(5))).status).toBe('allowed');
        await place.flushScripts();
        one.release(slotOf(5).counter);
        await vi.waitFor(async () => expect(stateOf(await other.peek(checkOf([slotOf(5)]), inGoodTime())).remaining).toBe(5), { interval: 5 });
      },
    };
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(Object.values(verbs), { minLength: 4 }), async (order) => {
        for (const verb of order) {
          await place.flushScripts();
          await verb();
        }
      }),
      { numRuns: 8 },
    );
  });
});
