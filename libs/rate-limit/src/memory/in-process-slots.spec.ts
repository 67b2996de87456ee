import { TestClock } from '@quotaplane/testing';
import { expect, it } from 'vitest';
import { checkOf, inGoodTime } from '../rig/connected';
import type { Charge, SlotCharge, Verdict } from '../store';
import { InProcessLimitStore } from './in-process-limit-store';

const DAY_MS = 86_400_000;
const slotOf = (limit: number, counter = 'qp:{t}:n:in-flight:1'): SlotCharge => ({ kind: 'slot', counter, limit, isRegenerated: true, cost: 1 });
const closed: Charge = { kind: 'bucket', counter: 'qp:{t}:c:closed', limit: 0, windowMs: 1_000, capacity: 0, cost: 1 };
const ask = (store: InProcessLimitStore, ...charges: Charge[]): Promise<Verdict> => store.judgeAndSpend(checkOf(charges), inGoodTime());

// Mutation: count a slot of a denied check; give back below nothing.
it('gives the cap, takes back what is released, and counts what is held', async () => {
  const store = new InProcessLimitStore({ maxCounters: 10, now: new TestClock().now });
  expect((await ask(store, slotOf(2))).status).toBe('allowed');
  expect((await ask(store, slotOf(2), closed)).status).toBe('denied');
  expect(await ask(store, slotOf(2))).toMatchObject({ status: 'allowed', states: [{ remaining: 0 }] });
  expect(await ask(store, slotOf(2))).toMatchObject({ status: 'denied', states: [{ remaining: 0, retryAfterMs: 1_000 }] });
  expect(store.slotsHeld).toBe(2);
  for (let at = 0; at < 3; at += 1) store.release(slotOf(2).counter);
  expect(store.slotsHeld).toBe(0);
  expect(await store.peek(checkOf([slotOf(2)]), inGoodTime())).toMatchObject({ status: 'allowed', states: [{ remaining: 2 }] });
});

// Mutation: let a held counter expire like any other.
it('keeps a counter of held slots however long they are held, and makes room of it once they are released', async () => {
  const clock = new TestClock();
  const store = new InProcessLimitStore({ maxCounters: 1, now: clock.now });
  await ask(store, slotOf(1));
  clock.advance(10 * DAY_MS);
  expect((await ask(store, slotOf(1, 'qp:{u}:n:in-flight:1'))).status).toBe('denied');
  expect((await ask(store, slotOf(1))).status).toBe('denied');
  store.release(slotOf(1).counter);
  clock.advance(DAY_MS);
  expect((await ask(store, slotOf(1, 'qp:{u}:n:in-flight:1'))).status).toBe('allowed');
});
