import { setTimeout as sleep } from 'node:timers/promises';
import * as testing from '@quotaplane/testing';
import { figure } from '@quotaplane/testing';
import { redisKeys } from '@quotaplane/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admitted } from '../admitted';
import { checkOf, inGoodTime } from '../rig/connected';
import { REDIS_PLACES, startRedisPlace, type RedisPlace } from '../rig/redis-place';
import { KINDS, namedRateOf } from '../rig/rates';

const LENGTH_MS = figure(3000, 60_000);
const EVERY_MS = 50;

describe.each(REDIS_PLACES)('P08 scripts are flushed every 50 ms, on %s', (kind) => {
  let place: RedisPlace;
  beforeAll(async () => {
    place = await startRedisPlace(kind, testing, 2);
    await place.redis.set(redisKeys.head('t'), '7.1');
  });
  afterAll(() => place?.close());

  // Mutation: let NOSCRIPT be an error of the call.
  it.each([['one call at a time', 1], ['batches', 48]])('and no call fails or counts twice: %s', async (name, lanes) => {
    const stores = place.clients.map((_, at) => place.storeOf({}, at));
    let isOver = false;
    let [allowed, refunded] = [0, 0];
    const others: unknown[] = [];
    const limit = 1_000_000;
    const counters = KINDS.filter((each) => each !== 'log');
    const chargesOf = () => counters.map((each) => namedRateOf(each, `${name}:${each}`, limit, 86_400_000));
    const lane = async (at: number): Promise<void> => {
      const store = stores[at % stores.length]!;
      while (!isOver) {
        const charges = chargesOf();
        const verdict = await store.judgeAndSpend(checkOf(charges), inGoodTime());
        if (verdict.status !== 'allowed') others.push(verdict);
        else if (++allowed % 10 !== 0) continue;
        else if (await store.refund(admitted(charges, verdict), inGoodTime())) refunded += 1;
        else others.push('refund');
      }
    };
    const all = Promise.all(Array.from({ length: lanes }, (_, at) => lane(at)));
    const until = performance.now() + LENGTH_MS;
    while (performance.now() < until) {
      await place.flushScripts();
      await sleep(EVERY_MS);
    }
    isOver = true;
    await all;
    expect(others).toEqual([]);
    expect(allowed).toBeGreaterThan(LENGTH_MS / 20);
    const left = await stores[0]!.peek(checkOf(chargesOf()), inGoodTime());
    const used = 'states' in left ? left.states.map(({ remaining }) => limit - remaining) : [];
    // A bucket and a queue of a million a day take a unit back every 86 ms.
    used.forEach((units, at) => {
      const drains = counters[at] === 'bucket' || counters[at] === 'queue';
      if (drains) expect(units).toBeLessThanOrEqual(allowed - refunded);
      else expect(units).toBe(allowed - refunded);
    });
  }, figure(60_000, 600_000));
});
