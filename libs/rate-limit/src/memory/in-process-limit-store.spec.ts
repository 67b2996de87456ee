import { TestClock } from '@quotaplane/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { admitted } from '../admitted';
import { checkOf, countOf, inGoodTime } from '../rig/connected';
import { ModelRedis } from '../rig/model-redis';
import { histories, START_MS } from '../rig/random-histories';
import type { AdmittedCharge, RateCharge, Verdict } from '../store';
import { InProcessLimitStore } from './in-process-limit-store';
import { ExpiryQueue } from './expiry-queue';

const windowOf = (counter: string, cost = 1): RateCharge => ({ kind: 'window', counter, limit: 5, windowMs: 1_000, alignment: 'first-hit', cost });

it('answers as the models do over random histories, clock steps and refunds included', async () => {
  await fc.assert(
    fc.asyncProperty(histories, async (steps) => {
      const clock = new TestClock(START_MS);
      const store = new InProcessLimitStore({ maxCounters: 1_000, now: clock.now });
      const model = new ModelRedis(clock.now);
      const admissions: AdmittedCharge[][] = [];
      for (const step of steps) {
        if (step.step === 'clock') clock.set(Math.max(0, clock.now() + step.byMs));
        if (step.step === 'checks') {
          for (const check of step.checks) {
            const verdict = await store.judgeAndSpend(check, inGoodTime());
            expect(verdict).toEqual(model.judge(check, clock.now()));
            if (verdict.status === 'allowed') admissions.push(admitted(check.charges, verdict));
          }
        }
        if (step.step === 'refund') {
          const charges = admissions.splice(step.pick % Math.max(1, admissions.length), 1)[0] ?? [];
          expect(await store.refund(charges, inGoodTime())).toBe(true);
          model.refund(charges, clock.now());
        }
      }
    }),
    { numRuns: 500 },
  );
});

describe('bounded memory', () => {
  const clock = new TestClock();
  const storeOf = (maxCounters: number): InProcessLimitStore => new InProcessLimitStore({ maxCounters, now: clock.now });
  const ask = (store: InProcessLimitStore, ...charges: RateCharge[]): Promise<Verdict> => store.judgeAndSpend(checkOf(charges), inGoodTime());

  // Mutation: forget the oldest counter to make room.
  it('denies a new counter when it is full, and never forgets a full one', async () => {
    const store = storeOf(3);
    for (let call = 0; call < 5; call += 1) await ask(store, windowOf('a'));
    await ask(store, windowOf('b'));
    await ask(store, windowOf('c'));
    const floods = await Promise.all(Array.from({ length: 1_000 }, (_, at) => ask(store, windowOf(`flood-${at}`))));
    expect(countOf(floods, 'denied')).toBe(1_000);
    expect(floods[0]).toMatchObject({ states: [{ remaining: 0, retryAfterMs: 61_000 }] });
    expect((await ask(store, windowOf('a'))).status).toBe('denied');
    expect((await ask(store, windowOf('b'))).status).toBe('allowed');
  });

  it('spends nothing of a check whose new counter finds no room', async () => {
    const store = storeOf(1);
    await ask(store, windowOf('a'));
    expect(await ask(store, windowOf('a', 3), windowOf('new'))).toMatchObject({ status: 'denied', states: [{ remaining: 4, retryAfterMs: 0 }, { remaining: 0 }] });
    expect(await ask(store, windowOf('a', 4))).toMatchObject({ status: 'allowed' });
  });

  // Mutation: trust the expiry that a counter was queued with.
  it('passes a client that waits as told for room', async () => {
    const store = storeOf(2);
    const bucket: RateCharge = { kind: 'bucket', counter: 'a', limit: 1, windowMs: 1_000, capacity: 100, cost: 1 };
    await ask(store, bucket);
    await ask(store, windowOf('b'));
    clock.advance(500);
    // Both live longer by now than when they were made.
    await ask(store, { ...bucket, cost: 90 }, { ...bucket, counter: 'b', kind: 'bucket', cost: 95 });
    const denied = await ask(store, windowOf('new'));
    const waitMs = denied.status === 'denied' ? (denied.states[0]?.retryAfterMs ?? 0) : 0;
    expect(waitMs).toBe(90_500 + 60_000);
    clock.advance(waitMs - 1);
    expect((await ask(store, windowOf('new'))).status).toBe('denied');
    clock.advance(1);
    expect((await ask(store, windowOf('new'))).status).toBe('allowed');
  });

  it('answers outside for a segment that its clock is not in, and lets peek create nothing', async () => {
    const store = storeOf(1);
    expect(await store.judgeAndSpend(checkOf([windowOf('a')], { untilMs: clock.now() }), inGoodTime())).toEqual({ status: 'outside', nowMs: clock.now() });
    await store.peek(checkOf([windowOf('a'), windowOf('b')]), inGoodTime());
    expect((await ask(store, windowOf('c'))).status).toBe('allowed');
  });
});

it('hands out expiries in order', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50)), (instants) => {
      const queue = new ExpiryQueue();
      for (const atMs of instants) queue.push({ atMs, counter: '' });
      const popped = instants.map(() => queue.pop()?.atMs);
      expect(popped).toEqual([...instants].sort((one, other) => one - other));
      expect(queue.pop()).toBeUndefined();
    }),
  );
});
