import { Socket } from 'node:net';
import { redisKeys } from '@quotaplane/contracts';
import * as testing from '@quotaplane/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Command } from 'ioredis';
import { checkOf, connected, countOf, inGoodTime } from '../rig/connected';
import { REDIS_PLACES, startRedisPlace, type RedisPlace } from '../rig/redis-place';
import type { LimitStore, RateCharge, Verdict } from '../store';
import { InvalidChargeError } from '../valid-charges';
import type { LimitRedis } from './connect-limit-redis';

describe.each(REDIS_PLACES)('on %s', (kind) => {
  let place: RedisPlace;
  let redis: LimitRedis;
  let store: LimitStore;

  beforeAll(async () => {
    place = await startRedisPlace(kind, testing);
    redis = place.redis;
  });

  afterAll(() => place.close());

  beforeEach(async () => {
    await place.flush();
    await redis.set(redisKeys.head('t'), '7.1');
    store = place.storeOf();
  });

  afterEach(() => {
    vi.restoreAllMocks();
    return store.close();
  });

  const bucket = (counter: string, cost = 1, limit = 100): RateCharge => ({ kind: 'bucket', counter: `qp:{t}:c:${counter}`, limit, windowMs: 60_000, capacity: limit, cost });
  const ask = (counter: string, cost = 1, limit = 100): Promise<Verdict> => store.judgeAndSpend(checkOf([bucket(counter, cost, limit)]), inGoodTime());
  const remainingOf = (verdict: Verdict): number | undefined => ('states' in verdict ? verdict.states[0]?.remaining : undefined);

  describe('batching', () => {
    it('sends a lone check at once and what gathers meanwhile in the next call', async () => {
      await ask('warm');
      await new Promise(setImmediate);
      const calls = vi.spyOn(redis, 'sendCommand');
      const verdicts = await Promise.all(Array.from({ length: 40 }, (_, at) => ask(`own-${at}`)));
      expect(countOf(verdicts, 'allowed')).toBe(40);
      expect(calls).toHaveBeenCalledTimes(2);
    });

    // Mutation: send in the turn of the reply.
    it('puts callers whom one reply woke into one call', async () => {
      await Promise.all(Array.from({ length: 40 }, (_, at) => ask(`own-${at}`)));
      const calls = vi.spyOn(redis, 'sendCommand');
      await Promise.all(Array.from({ length: 40 }, (_, at) => ask(`own-${at}`)));
      expect(calls).toHaveBeenCalledTimes(1);
    });

    it('puts at most 128 checks in a call and has at most two calls in flight', async () => {
      await ask('warm');
      const sizes: number[] = [];
      let [inFlight, mostInFlight] = [0, 0];
      const send: typeof redis.sendCommand = redis.sendCommand.bind(redis);
      vi.spyOn(redis, 'sendCommand').mockImplementation((command: Command) => {
        // As many counters as callers, each named once on the wire.
        sizes.push(String(command.toWritable(new Socket())).split(':own-').length - 1);
        mostInFlight = Math.max(mostInFlight, (inFlight += 1));
        command.promise.finally(() => (inFlight -= 1)).catch(() => undefined);
        return send(command);
      });
      const verdicts = await Promise.all(Array.from({ length: 400 }, (_, at) => ask(`own-${at}`)));
      expect(countOf(verdicts, 'allowed')).toBe(400);
      expect(Math.max(...sizes)).toBe(128);
      expect(sizes.reduce((sum, size) => sum + size)).toBe(400);
      expect(mostInFlight).toBe(2);
    });

    // Mutation: fill a batch again before the reply to its call is read.
    it('reads each of two calls in flight by its own batch', async () => {
      await ask('warm');
      const different = Array.from({ length: 100 }, (_, at) => ask(`own-${at}`, at));
      const equal = Array.from({ length: 90 }, () => ask('shared'));
      expect((await Promise.all(different)).map(remainingOf)).toEqual(Array.from({ length: 100 }, (_, at) => 100 - at));
      expect((await Promise.all(equal)).map(remainingOf)).toEqual(Array.from({ length: 90 }, (_, at) => 99 - at));
    });

    it('shows checks of one batch on one counter each other\'s spending', async () => {
      const verdicts = await Promise.all(Array.from({ length: 30 }, () => ask('hot', 1, 10)));
      expect(countOf(verdicts, 'allowed')).toBe(10);
      expect(countOf(verdicts, 'denied')).toBe(20);
    });

    it('gives each of many tenants and heads of one batch its own answer', async () => {
      await redis.set(redisKeys.head('u'), '2.1');
      await redis.set(redisKeys.policy('t'), '{"new":true}');
      await redis.hset(redisKeys.subjects('t'), { 'key:a': 'A', 'user:b': 'B' });
      const judge = (change: Partial<Parameters<typeof checkOf>[1]>): Promise<Verdict> => store.judgeAndSpend(checkOf([bucket('x')], change), inGoodTime());
      const [first, current, stale, again, other, lost, early] = await Promise.all([
        judge({}), judge({}), judge({ knownHead: '6.1', subjectFields: ['key:a', 'key:z'] }), judge({ knownHead: '6.1', subjectFields: ['user:b', 'key:a'] }),
        judge({ tenant: 'u', knownHead: '2.1' }), judge({ tenant: 'nobody' }), judge({ fromMs: 8_000_000_000_000 }),
      ]);
      expect([first, current, other].map((verdict) => verdict.status)).toEqual(['allowed', 'allowed', 'allowed']);
      expect(stale).toMatchObject({ status: 'stale', head: '7.1', policy: '{"new":true}', subjects: ['A', null] });
      expect(again).toMatchObject({ status: 'stale', head: '7.1', policy: '{"new":true}', subjects: ['B', 'A'] });
      expect(lost.status).toBe('lost');
      expect(early.status).toBe('outside');
      // In a cluster the counter's part was judged before the other tenant's head, and is given back.
      await vi.waitFor(async () => expect(remainingOf(await ask('x', 0))).toBe(97));
    });

    // Mutation: take checks for equal that differ in their segment.
    it('judges no check by the segment of another', async () => {
      const judge = (fromMs: number): Promise<Verdict> => store.judgeAndSpend(checkOf([bucket('segments')], { fromMs }), inGoodTime());
      const verdicts = await Promise.all([judge(0), judge(0), judge(8_000_000_000_000), judge(0)]);
      expect(verdicts.map(({ status }) => status)).toEqual(['allowed', 'allowed', 'outside', 'allowed']);
      expect(remainingOf(await ask('segments', 0))).toBe(97);
    });

    // Mutation: ask judge-plain first however often a tenant is edited.
    it('pays one call more for an edit, and none for those that follow it', async () => {
      await redis.set(redisKeys.policy('t'), '{"new":true}');
      // The call that brings a script along is none of those that are counted.
      await ask('warm');
      await store.judgeAndSpend(checkOf([{ kind: 'log', counter: 'qp:{t}:c:log', limit: 5, windowMs: 60_000, cost: 1 }]), inGoodTime());
      const judge = (knownHead: string): Promise<Verdict> => store.judgeAndSpend(checkOf([bucket('edited')], { knownHead }), inGoodTime());
      const callsOf = async (knownHead: string): Promise<[string, number]> => {
        const calls = vi.spyOn(redis, 'sendCommand');
        const { status } = await judge(knownHead);
        const { length } = calls.mock.calls;
        calls.mockRestore();
        return [status, length];
      };
      expect(await callsOf('7.1')).toEqual(['allowed', 1]);
      expect(await callsOf('6.1')).toEqual(['stale', 2]);
      expect(await callsOf('6.2')).toEqual(['stale', 1]);
      expect(await callsOf('7.1')).toEqual(['allowed', 1]);
      expect(await callsOf('6.1')).toEqual(['stale', 2]);
    });

    it('answers a bad key by healing it, and its neighbours as if nothing was', async () => {
      await redis.rpush('qp:{t}:c:bad', 'planted');
      const [, bad, good] = await Promise.all([ask('one'), ask('bad'), ask('two')]);
      expect([remainingOf(bad), remainingOf(good)]).toEqual([99, 99]);
      expect(await redis.type('qp:{t}:c:bad')).toBe('string');
    });

    it('refuses figures that are not whole numbers to their caller alone', async () => {
      const [good, bad, fraction] = await Promise.allSettled([ask('one'), ask('two', Number.NaN), ask('three', 0.5)]);
      expect(good.status).toBe('fulfilled');
      expect(bad).toMatchObject({ status: 'rejected', reason: expect.any(InvalidChargeError) as unknown });
      expect(fraction).toMatchObject({ status: 'rejected' });
    });
  });

  describe('C032 P08 scripts gone', () => {
    // Mutation: drop the NOSCRIPT branch of callScript.
    it('C032 answers the call after a flush and after a restart, and nobody sees an error', async () => {
      await ask('x');
      await place.flushScripts();
      expect((await ask('x')).status).toBe('allowed');
      await place.restart();
      await connected(redis);
      expect((await ask('x')).status).toBe('allowed');
    });

    // Mutation: let NOSCRIPT be an error of the call; or spend a second time with the source.
    it('C032 fails no call while scripts are flushed under load', async () => {
      const statuses = new Set<string>();
      let flushes = 0;
      for (let round = 0; round < 150; round += 1) {
        const asked = Array.from({ length: 20 }, (_, at) => ask(`own-${at}`, 1, 1_000_000));
        const flushed = place.flushScripts().then(() => (flushes += 1));
        for (const verdict of await Promise.all(asked)) statuses.add(verdict.status);
        await flushed;
      }
      expect(flushes).toBe(150);
      expect([...statuses]).toEqual(['allowed']);
      // Nothing was spent twice by the second call.
      expect(await redis.get('qp:{t}:c:own-3')).toMatch(/^\d+:\d+$/);
      expect(remainingOf(await ask('own-3', 0, 1_000_000))).toBeGreaterThanOrEqual(1_000_000 - 150);
    });
  });

  describe('peek and refund', () => {
    it('looks without writing', async () => {
      await ask('x', 5);
      await redis.persist('qp:{t}:c:x');
      const before = await redis.get('qp:{t}:c:x');
      const verdict = await store.peek(checkOf([bucket('x', 50), bucket('new', 7)]), inGoodTime());
      expect(verdict).toMatchObject({ status: 'allowed', states: [{ remaining: 95 }, { remaining: 100 }] });
      expect(await redis.get('qp:{t}:c:x')).toBe(before);
      expect(await redis.pttl('qp:{t}:c:x')).toBe(-1);
      expect(await redis.exists('qp:{t}:c:new')).toBe(0);
    });
  });
});
