import * as testing from '@quotaplane/testing';
import { describe, expect, it } from 'vitest';
import { admitted } from './admitted';
import { countOf } from './rig/connected';
import { describeOnEveryStore } from './rig/every-store';
import { bucketOf, logOf, MINUTE_MS, queueOf, rateOf, slidingOf, stateOf, type RateKind } from './rig/rates';
import type { Charge, Verdict } from './store';
import { InvalidChargeError } from './valid-charges';

describeOnEveryStore('cases of one algorithm', testing, (place) => {
  const judge = (...charges: Charge[]): Promise<Verdict> => place().judge(charges);

  // Mutation: take windowMs for the time to untouched, or one unit's.
  it('C003 empties a leaky bucket in the time its whole cost takes', async () => {
    const verdict = await judge({ ...queueOf('slow', 10, 30_000), cost: 7 });
    expect(stateOf(verdict)).toMatchObject({ remaining: 3, resetAfterMs: 21_000 });
  });

  // Mutation: count an entry while its age is windowMs too; keep the older window whole.
  it.each([['log', 10_001], ['counter', 20_001]] as const)('C006 grants a limit of 1: sliding %s', async (kind, laterMs) => {
    const one = rateOf(kind, 1, 10_000);
    const statuses: string[] = [];
    for (const byMs of [0, 5_000, laterMs - 5_000]) {
      place().clock.advance(byMs);
      statuses.push((await judge(one)).status);
    }
    expect(statuses).toEqual(['allowed', 'denied', 'allowed']);
  });

  // Mutation: weigh by the elapsed share instead of what is left of it.
  it('C007 weighs the older window by what of it is still inside', async () => {
    const hundred = slidingOf('hundred', 100, MINUTE_MS);
    await judge({ ...hundred, cost: 50 });
    place().clock.advance(MINUTE_MS);
    await judge({ ...hundred, cost: 10 });
    place().clock.advance(6_000);
    expect(stateOf(await place().peek([hundred])).remaining).toBe(45);
  });

  // Mutation: empty the bucket once a window instead of evenly.
  it('C008 lets a leaky bucket admit, and its calls depart, no faster than it drains', async () => {
    const leaky = queueOf('leaky', 3, 1_000);
    const departures: number[] = [];
    for (let atMs = 0; atMs <= 10_000; atMs += 100) {
      const verdict = await judge(leaky);
      if (verdict.status === 'allowed') departures.push(atMs + (stateOf(verdict).waitMs ?? NaN));
      expect(departures.length).toBeLessThanOrEqual(3 + (atMs * 3) / 1_000);
      place().clock.advance(100);
    }
    expect(departures.length).toBe(33);
    const gaps = departures.slice(1).map((departsAtMs, at) => departsAtMs - (departures[at] ?? NaN));
    expect(Math.min(...gaps)).toBe(333);
    expect(Math.max(...gaps)).toBe(334);
  });

  // Mutation: fill the bucket anew each window; keep only the entries of this window in a log.
  it('C010 P01 stays within its worst case over 30 s: bucket 34, log 17 in any 30 s', async () => {
    const [bucket, log] = [bucketOf('b', 17, 30_000), logOf('l', 17, 30_000)];
    const admissions: number[] = [];
    let fromBucket = 0;
    for (let atMs = 0; atMs < 90_000; atMs += 500) {
      if (atMs < 30_000 && (await judge(bucket)).status === 'allowed') fromBucket += 1;
      if ((await judge(log)).status === 'allowed') admissions.push(atMs);
      place().clock.advance(500);
    }
    expect(fromBucket).toBeLessThanOrEqual(34);
    for (const fromMs of admissions) expect(admissions.filter((atMs) => atMs >= fromMs && atMs < fromMs + 30_000).length).toBeLessThanOrEqual(17);
    expect(admissions).toHaveLength(51);
  });

  const refund = async (charge: Charge, verdict: Verdict): Promise<void> => {
    if (verdict.status !== 'allowed') throw new TypeError('not admitted');
    await place().refund(admitted([charge], verdict));
  };

  // Mutation: take a log's newest entry for its life though it is ahead of the clock.
  it('P05 P06 refunds a log after a step back of the clock, and lets it live no longer for it', async () => {
    const log = logOf('l', 10, 1_000);
    const first = await judge(log);
    place().clock.advance(600);
    await judge(log);
    place().clock.advance(-300);
    await refund(log, first);
    expect(await place().redis?.pttl(log.counter) ?? 0).toBeLessThanOrEqual(61_000);
    expect(stateOf(await place().peek([log])).remaining).toBe(9);
  });

  // Mutation: take every window after the charged one for the one that follows it.
  it('P05 refunds to a sliding counter only what is in one of its two windows', async () => {
    const counter = slidingOf('s', 10, 1_000);
    const first = await judge(counter);
    place().clock.advance(1_000);
    await judge(counter);
    place().clock.advance(1_000);
    await judge(counter);
    place().clock.advance(-500);
    await refund(counter, first);
    expect(stateOf(await place().peek([counter])).remaining).toBe(8);
  });

  describe('C048 fast rates, twice the limit offered for 2 s', () => {
    // Mutation: round the interval of a unit to whole ms.
    it.each<[RateKind, number, number]>([
      ['bucket', 6_000, 1], ['epoch', 6_000, 1], ['log', 6_000, 1], ['counter', 6_000, 1], ['queue', 6_000, 1],
      ['bucket', 1_000_000, 200], ['epoch', 1_000_000, 200], ['counter', 1_000_000, 200], ['queue', 1_000_000, 200],
    ])('C048 admits within a hundredth: %s, %i a second', { timeout: 30_000 }, async (kind, limit, cost) => {
      const rate = { ...rateOf(kind, limit, 1_000), cost, ...(kind === 'bucket' || kind === 'queue' ? { capacity: limit / 200 } : {}) };
      let [allowed, longestMs] = [0, 0];
      for (let atMs = 0; atMs < 2_000; atMs += 1) {
        const verdicts = await place().judgeMany((2 * limit) / 1_000 / cost, [rate]);
        allowed += countOf(verdicts, 'allowed');
        for (const verdict of verdicts) longestMs = Math.max(longestMs, stateOf(verdict).waitMs ?? 0);
        place().clock.advance(1);
      }
      // A queue of a 200th of a second: a rounded interval would let it grow without end.
      expect(longestMs).toBeLessThanOrEqual(5);
      expect(Math.abs((allowed * cost) / (2 * limit) - 1)).toBeLessThanOrEqual(0.01);
    });

    // Mutation: leave LOG_LIMIT_MAX out of requireValidCharge.
    it('C048 refuses a log of more entries than it may hold', async () => {
      await expect(judge(rateOf('log', 1_000_000, 1_000))).rejects.toThrow(InvalidChargeError);
    });
  });
});

describeOnEveryStore('the queue of a leaky bucket', testing, (place) => {
  const judge = (...charges: Charge[]): Promise<Verdict> => place().judge(charges);
  const waitOf = (verdict: Verdict): number | undefined => stateOf(verdict).waitMs;

  // Mutation: schedule from now instead of from where the outflow is free.
  it('tells each call when it departs, one at a time', async () => {
    const queue = queueOf('q', 10, 1_000, 5);
    const verdicts = await place().judgeMany(7, [queue]);
    expect(verdicts.map(({ status }) => status)).toEqual([...Array<string>(5).fill('allowed'), 'denied', 'denied']);
    expect(verdicts.slice(0, 5).map(waitOf)).toEqual([0, 100, 200, 300, 400]);
    expect(verdicts[5]).toMatchObject({ states: [{ remaining: 0, retryAfterMs: 100 }] });
    expect(stateOf(verdicts[5] ?? verdicts[0]!)).not.toHaveProperty('waitMs');
  });

  // Mutation: compare the wait with `>=`, or leave out the bound.
  it('refuses a call that would wait longer than it may, until it would not', async () => {
    const patient = queueOf('p', 10, 1_000, 100, 200);
    const verdicts = await place().judgeMany(4, [patient]);
    expect(verdicts.map(({ status }) => status)).toEqual(['allowed', 'allowed', 'allowed', 'denied']);
    expect(verdicts[3]).toMatchObject({ states: [{ remaining: 97, retryAfterMs: 100 }] });
    place().clock.advance(100);
    expect(waitOf(await judge(patient))).toBe(200);
  });

  // Mutation: keep the schedule when its last call is refunded; free it when another one is.
  it('frees the outflow of a call that gives up before it departs, where it was the last', async () => {
    const queue = queueOf('q', 10, 1_000, 5);
    const verdicts = await place().judgeMany(3, [queue]);
    const backOf = (at: number): ReturnType<typeof admitted> => {
      const verdict = verdicts[at];
      return verdict?.status === 'allowed' ? admitted([queue], verdict) : [];
    };
    await place().refund(backOf(1));
    // The third one keeps its turn.
    expect(stateOf(await place().peek([queue])).remaining).toBe(3);
    expect(waitOf(await judge(queue))).toBe(300);
    await place().refund(backOf(2));
    expect(waitOf(await judge(queue))).toBe(400);
    place().clock.advance(1_000);
    const [, later] = await place().judgeMany(2, [queue]);
    if (later?.status !== 'allowed') throw new TypeError('not admitted');
    expect(stateOf(later).waitMs).toBe(100);
    await place().refund(admitted([queue], later));
    expect(waitOf(await judge(queue))).toBe(100);
  });

  // Mutation: let a refund of a departed call free the outflow.
  it('lets no call follow sooner because the one before it was refunded after it left', async () => {
    const queue = queueOf('q', 1, 1_000, 5);
    const verdict = await judge(queue);
    if (verdict.status !== 'allowed') throw new TypeError('not admitted');
    place().clock.advance(10);
    await place().refund(admitted([queue], verdict));
    expect(waitOf(await judge(queue))).toBe(990);
  });

  // Mutation: give each charge of a check the same departure.
  it('queues the charges of one check behind each other', async () => {
    const queue = queueOf('q', 10, 1_000, 5);
    expect(await judge({ ...queue, cost: 2 }, queue)).toMatchObject({ status: 'allowed', states: [{ waitMs: 0 }, { waitMs: 200 }] });
    expect(waitOf(await judge(queue))).toBe(300);
  });

  // Mutation: keep the outflow's instant when the clock steps back.
  it('P05 keeps the queue when the store\'s clock steps back', async () => {
    const queue = queueOf('q', 10, 1_000, 5);
    await place().judgeMany(3, [queue]);
    place().clock.advance(-600_000);
    expect(waitOf(await judge(queue))).toBe(300);
  });

  // Mutation: claim a wait for a call that only looks.
  it('lets a call of no cost look without queueing', async () => {
    const queue = queueOf('q', 10, 1_000, 5);
    await place().judgeMany(3, [queue]);
    expect(await judge({ ...queue, cost: 0 })).toMatchObject({ status: 'allowed', states: [{ remaining: 2, waitMs: 0 }] });
    expect(waitOf(await judge(queue))).toBe(300);
  });
});
