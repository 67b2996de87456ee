import { InProcessLimitStore } from '@quotaplane/rate-limit';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Call } from '../decide/call';
import { planOf, type CallPlan } from '../decide/call-plan';
import { appliedTo } from '../decide/charges';
import { SlotLedger } from '../decide/slot-ledger';
import { limitOf, policyOf, type PolicyParts } from '../specs/policies';
import { QuotaMemory } from './quota-memory';
import { LocalShare, type LocalJudgement } from './local-share';

const call: Call = {
  tenant: 'hobby', isAnonymous: false, class: { slug: 'default', meter: 'requests', failMode: 'local' }, method: 'GET', route: '/', cost: 1, holdsSlot: true,
  address: '192.0.2.1', arrivedAtMs: 0,
};
const planFor = (parts: PolicyParts): CallPlan => {
  const [segment] = policyOf(parts).segments;
  if (!segment) throw new TypeError('a policy has a segment');
  return planOf(segment, call);
};

describe('this node\'s share', () => {
  let slots: SlotLedger;
  let nodes: number;
  let share: LocalShare;

  beforeEach(() => {
    slots = new SlotLedger();
    nodes = 2;
    share = new LocalShare({
      store: new InProcessLimitStore({ maxCounters: 100, now: () => Date.now() }),
      slots,
      quotas: new QuotaMemory(),
      directory: { shareOf: (units) => Math.floor(units / nodes) },
      incarnation: 'this',
    });
  });

  const judge = async (parts: PolicyParts, one = call): Promise<LocalJudgement> => {
    const plan = planFor(parts);
    const judged = await share.judge(one, plan, appliedTo(plan, one, 1).filter(({ kind }) => kind !== 'quota'));
    if (!judged) throw new TypeError('outside of the segment');
    return judged;
  };

  // Fails when slots are taken after the wait for the counters, or counted apart from those of before the outage.
  it('of calls in flight is never passed, however many come at once, and counts those admitted by the store', async () => {
    slots.take('hobby');
    const judged = await Promise.all(Array.from({ length: 20 }, () => judge({ concurrency: 10 })));
    expect(judged.filter(({ isAllowed }) => isAllowed)).toHaveLength(4);
    expect(slots.inUse).toBe(5);
    const denied = judged.find(({ isAllowed }) => !isAllowed);
    expect(denied?.states.at(-1)).toMatchObject({ remaining: 0, retryAfterMs: 1000 });
    expect(denied?.isShareTooSmall).toBe(false);
  });

  it('gives a slot back where a limit denies, and uses nothing of a limit where no slot is left', async () => {
    const parts = { limits: [limitOf({ algorithm: 'fixed-window', limit: 4, burst: null })], concurrency: 100 };
    const judged = [];
    for (let at = 0; at < 5; at += 1) judged.push((await judge(parts)).isAllowed);
    expect(judged).toEqual([true, true, false, false, false]);
    expect(slots.inUse).toBe(2);
    const full = await judge({ limits: [limitOf({ name: 'other', algorithm: 'fixed-window', limit: 4, burst: null })], concurrency: 4 });
    expect([full.isAllowed, full.states[0]?.remaining]).toEqual([false, 2]);
    expect(slots.inUse).toBe(2);
  });

  it('that holds nothing is the outage\'s fault, never the caller\'s', async () => {
    nodes = 20;
    expect(await judge({ limits: [], concurrency: 10 })).toMatchObject({ isAllowed: false, isShareTooSmall: true });
    expect(await judge({ limits: [limitOf({ algorithm: 'leaky-bucket', burst: null, limit: 10, maxQueue: 9, maxWaitMs: 1000 })] })).toMatchObject({ isAllowed: false, isShareTooSmall: true });
    expect(await judge({ limits: [], concurrency: 0 })).toMatchObject({ isAllowed: false, isShareTooSmall: false });
  });

  it('of a queue keeps its turns', async () => {
    const parts = { limits: [limitOf({ algorithm: 'leaky-bucket', burst: null, limit: 20, windowMs: 1000, maxQueue: 7, maxWaitMs: 1000 })] };
    const waits = [];
    for (let at = 0; at < 5; at += 1) waits.push((await judge(parts, { ...call, holdsSlot: false })).states[0]?.waitMs);
    // Ten a second are this node's half, four at once its half of the queue.
    expect(waits.slice(0, 4).map((waitMs) => Math.round((waitMs ?? 0) / 100))).toEqual([0, 1, 2, 3]);
    expect(waits[4]).toBeUndefined();
  });
});
