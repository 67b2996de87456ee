import * as testing from '@quotaplane/testing';
import { expect, it } from 'vitest';
import { admitted } from './admitted';
import { retryKey } from './counter-key';
import { countOf } from './rig/connected';
import { describeOnEveryStore } from './rig/every-store';
import { bucketOf, KINDS, MINUTE_MS, quotaOf, rateOf } from './rig/rates';
import type { Charge, RetryCharge, Verdict } from './store';

const retryOf = (key: string, change: Partial<RetryCharge> = {}): RetryCharge => ({
  kind: 'retry', counter: retryKey({ tenant: 't', subject: 'key:1', method: 'POST', route: '/orders', key }), windowMs: MINUTE_MS, max: 3, repeatCost: 1, cost: 0, ...change,
});

describeOnEveryStore('repeats of a call', testing, (place) => {
  const judge = (...charges: Charge[]): Promise<Verdict> => place().judge(charges);
  const left = async (charge: Charge): Promise<number | undefined> => {
    const verdict = await place().peek([charge]);
    return 'states' in verdict ? verdict.states[0]?.remaining : undefined;
  };

  // Mutation: read the uses of a batch anew for each check; count the first use as a repeat; never stop at max.
  it.each(KINDS)('charges one of 50 parallel sends in full, three at the lower cost, the rest in full: %s', async (kind) => {
    const rate = { ...rateOf(kind, 1_000), cost: 10 };
    const quota = { ...quotaOf(10_000), cost: 10 };
    const verdicts = await Promise.all(Array.from({ length: 50 }, () => judge(retryOf('a'), rate, quota)));
    expect(countOf(verdicts, 'allowed')).toBe(50);
    expect(verdicts.filter((verdict) => 'states' in verdict && verdict.states[0]?.repeatCost === 1)).toHaveLength(3);
    expect(await left(rate)).toBe(1_000 - 47 * 10 - 3);
    expect(await left(quota)).toBe(10_000 - 47 * 10 - 3);
  });

  // Mutation: leave the subject, method or route out of retryKey.
  it('knows a key by its subject, method and route, and forgets it after its window', async () => {
    const rate = { ...bucketOf('orders', 1_000, 86_400_000_000), cost: 10 };
    for (const key of ['a', 'b']) await judge(retryOf(key), rate);
    expect(await left(rate)).toBe(980);
    place().clock.advance(MINUTE_MS - 1);
    await judge(retryOf('a'), rate);
    expect(await left(rate)).toBe(979);
    place().clock.advance(1);
    await judge(retryOf('a'), rate);
    expect(await left(rate)).toBe(969);
  });

  // Mutation: write the use where the check was denied.
  it('remembers only calls that were admitted, and gives none to a look', async () => {
    const rate = { ...bucketOf('orders', 15, 86_400_000_000), cost: 10 };
    await place().peek([retryOf('a'), rate]);
    expect((await judge(retryOf('x'), rate)).status).toBe('allowed');
    expect((await judge(retryOf('a'), rate)).status).toBe('denied');
    expect((await judge(retryOf('a'), rate)).status).toBe('denied');
    expect(await place().redis?.exists(retryOf('a').counter)).not.toBe(1);
    expect(await judge(retryOf('x'), rate)).toMatchObject({ status: 'allowed', states: [{ repeatCost: 1 }, { remaining: 4 }] });
    expect(await judge(retryOf('x', { repeatCost: 0 }), rate)).toMatchObject({ status: 'allowed', states: [{ repeatCost: 0 }, { remaining: 4 }] });
  });

  // Mutation: refund the full cost of a repeat.
  it('gives back of a repeat what it cost, and keeps it a use', async () => {
    const rate = { ...bucketOf('orders', 100, 86_400_000_000), cost: 10 };
    const charges = [retryOf('a'), rate];
    await judge(...charges);
    const repeat = await judge(...charges);
    if (repeat.status !== 'allowed') throw new TypeError('not admitted');
    await place().refund(admitted(charges, repeat));
    expect(await left(rate)).toBe(90);
    for (let at = 0; at < 3; at += 1) await judge(...charges);
    expect(await left(rate)).toBe(90 - 1 - 1 - 10);
  });

  // Mutation: cap the cost of a slot too.
  it('takes a slot at a repeat cost of 0', async () => {
    const slot: Charge = { kind: 'slot', counter: 'qp:{t}:n:in-flight:1', limit: 2, isRegenerated: false, cost: 1 };
    const free = retryOf('a', { repeatCost: 0 });
    const rate = { ...bucketOf('orders', 100, 86_400_000_000), cost: 10 };
    const verdicts = [await judge(free, rate, slot), await judge(free, rate, slot), await judge(free, rate, slot)];
    expect(verdicts.map(({ status }) => status)).toEqual(['allowed', 'allowed', 'denied']);
  });

  it('P05 keeps the uses over a step back of the clock', async () => {
    const rate = { ...bucketOf('orders', 1_000, 86_400_000_000), cost: 10 };
    for (let at = 0; at < 4; at += 1) await judge(retryOf('a'), rate);
    place().clock.advance(-600_000);
    expect(await judge(retryOf('a'), rate)).not.toHaveProperty('states.0.repeatCost');
    place().clock.advance(MINUTE_MS);
    expect(await judge(retryOf('a'), rate)).not.toHaveProperty('states.0.repeatCost');
    expect(await judge(retryOf('a'), rate)).toHaveProperty('states.0.repeatCost', 1);
  });
});
