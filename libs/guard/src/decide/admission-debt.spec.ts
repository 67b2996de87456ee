import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { InProcessLimitStore } from '@quotaplane/rate-limit';
import type { CallOutcome } from '../http/response-end';
import { limitOf, policyOf } from '../specs/policies';
import { AdmissionKeeper } from './admission-keeper';
import { awaitTurn } from './await-turn';
import type { Call } from './call';
import { planOf } from './call-plan';
import { appliedTo, chargesOf } from './charges';
import { decisionOf, type GuardDecision, type Judgement } from './guard-decision';
import { HeldSlot } from './held-slot';
import { SlotLedger } from './slot-ledger';

const NOW_MS = 1_790_000_000_000;
const QUEUE = limitOf({ algorithm: 'leaky-bucket', limit: 1, burst: null, windowMs: 1000, maxQueue: 5, maxWaitMs: 10_000 });
const callOf = (parts: Partial<Call> = {}, refundOn: Call['class']['refundOn'] = ['5xx', 'aborted']): Call => ({
  tenant: 'hobby', isAnonymous: false, class: { slug: 'default', meter: 'requests', failMode: 'local', refundOn }, method: 'GET', route: '/', cost: 2,
  address: '192.0.2.1', arrivedAtMs: 0, ...parts,
});

describe('what an admission owes', () => {
  const slots = new SlotLedger();
  const refunds: string[] = [];
  const journaled: number[] = [];
  const doubted: number[] = [];
  let store: InProcessLimitStore;
  let keeper: AdmissionKeeper;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    refunds.length = 0;
    journaled.length = 0;
    doubted.length = 0;
    store = new InProcessLimitStore({ maxCounters: 100, now: () => NOW_MS });
    keeper = new AdmissionKeeper({
      store: { refund: (...charges) => store.refund(...charges), release: () => undefined },
      slots,
      journal: () => ({ tenant: 'hobby', meter: 'requests', periodId: '2026-11-01', part: 1, class: 'default', generation: 1 }),
      refund: (_cell, units) => void journaled.push(units),
      doubt: (_cell, units) => void doubted.push(units),
      onGivingBack: () => undefined,
      onRefund: (endpointClass, reason) => void refunds.push(`${endpointClass} ${reason}`),
      onSlotLost: () => undefined,
      onBan: () => undefined,
    });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const admit = async (call: Call, limits = [limitOf({ algorithm: 'fixed-window', limit: 10, burst: null })], held?: HeldSlot): Promise<GuardDecision> => {
    const [segment] = policyOf({ limits, concurrency: 5 }).segments;
    if (!segment) throw new TypeError('a policy has a segment');
    const plan = planOf(segment, call);
    const applied = appliedTo(plan, call, 1, held);
    // Slots are counted by the ledger here, as while the store is away.
    const charges = chargesOf(applied).filter(({ kind }) => kind !== 'slot');
    const verdict = await store.judgeAndSpend({ tenant: 'hobby', knownHead: '', fromMs: 0, untilMs: NOW_MS * 2, subjectFields: [], charges }, Infinity);
    if (!('states' in verdict)) throw new TypeError(verdict.status);
    const states = [...verdict.states, { remaining: 1, resetAfterMs: 0, moreAfterMs: 0, retryAfterMs: 0 }];
    const judgement: Judgement = { call, plan, applied, states, isAllowed: verdict.status === 'allowed', source: 'store', revision: 1, nowMs: NOW_MS };
    return keeper.admitted(decisionOf(judgement), judgement, 1, { held });
  };
  const left = async (call = callOf({ cost: 0 })): Promise<number | undefined> => (await admit(call)).limits[0]?.remaining;

  it.each([
    [{ statusCode: 200, isAborted: false }, undefined],
    [{ statusCode: 404, isAborted: false }, undefined],
    [{ statusCode: 503, isAborted: false }, '5xx'],
    [{ statusCode: 200, isAborted: true }, 'aborted'],
    [{ statusCode: 500, isAborted: true }, 'aborted'],
  ] satisfies [CallOutcome, string | undefined][])('of %o goes back by outcome: %s', async (outcome, reason) => {
    const decision = await admit(callOf());
    decision.release?.(outcome);
    expect(refunds).toEqual(reason === undefined ? [] : [`default ${reason}`]);
    expect(journaled).toEqual(reason === undefined ? [] : [2]);
    expect(await left()).toBe(reason === undefined ? 8 : 10);
  });

  // Mutation: the store's word on a refund is not asked for (the reconciliation would then bill the units as recovered).
  it.each([['takes', true, []], ['refuses', false, [2]], ['fails', new Error('away'), [2]]])('is in doubt unless the store takes the refund: it %s it', async (_, answer, expected) => {
    const decision = await admit(callOf());
    store.refund = () => (typeof answer === 'boolean' ? Promise.resolve(answer) : Promise.reject(answer));
    decision.release?.({ statusCode: 500, isAborted: false });
    await vi.waitFor(() => expect(doubted).toEqual(expected));
    expect(journaled).toEqual([2]);
  });

  // Fails when settle forgets that it has run.
  it('is settled once, whatever is called and how often', async () => {
    await admit(callOf());
    const decision = await admit(callOf());
    for (let time = 0; time < 3; time += 1) decision.release?.({ statusCode: 500, isAborted: false });
    decision.withdraw?.();
    expect(journaled).toEqual([2]);
    expect(await left()).toBe(8);
  });

  it('is nothing for a plain call, which carries no hook', async () => {
    const decision = await admit(callOf({}, []));
    expect([decision.release, decision.withdraw, decision.whenSlotLost]).toEqual([undefined, undefined, undefined]);
  });

  it('is the slot of a call that holds one, told when its lease is lost', async () => {
    const held = new HeldSlot(() => undefined);
    const decision = await admit(callOf({ holdsSlot: true }, []), [], held);
    expect(slots.inUse).toBe(1);
    const cut = vi.fn();
    decision.whenSlotLost?.(cut);
    held.lose();
    held.lose();
    expect(cut).toHaveBeenCalledTimes(1);
    decision.release?.({ statusCode: 200, isAborted: true });
    decision.release?.({ statusCode: 200, isAborted: true });
    expect(slots.inUse).toBe(0);
  });

  describe('while it waits in a queue', () => {
    const inQueue = async (): Promise<GuardDecision> => {
      await admit(callOf({ cost: 1 }, []), [QUEUE]);
      return admit(callOf({ cost: 1 }, []), [QUEUE]);
    };

    it('comes to its turn after exactly the told wait', async () => {
      const decision = await inQueue();
      expect(decision.waitMs).toBe(1000);
      let turn: boolean | undefined;
      void awaitTurn(decision, new AbortController().signal).then((isTurn) => (turn = isTurn));
      await vi.advanceTimersByTimeAsync(999);
      expect(turn).toBeUndefined();
      await vi.advanceTimersByTimeAsync(1);
      expect(turn).toBe(true);
      expect(vi.getTimerCount()).toBe(0);
    });

    it.each(['before', 'while'] as const)('goes back whole when its caller went %s it waited', async (when) => {
      const decision = await inQueue();
      const caller = new AbortController();
      if (when === 'before') caller.abort();
      const turn = awaitTurn(decision, caller.signal);
      caller.abort();
      expect(await turn).toBe(false);
      decision.release?.({ statusCode: 200, isAborted: true });
      expect(refunds).toEqual(['default gone']);
      expect((await admit(callOf({ cost: 1 }, []), [QUEUE])).waitMs).toBe(1000);
    });

    // Fails when release looks at the class alone: the answer's end may be told before awaitTurn hears of it.
    it('goes back also when its end is told first, and not once its turn has come', async () => {
      const early = await inQueue();
      early.release?.({ statusCode: 200, isAborted: true });
      expect(refunds).toEqual(['default gone']);
      const late = await admit(callOf({ cost: 1 }, []), [QUEUE]);
      await vi.advanceTimersByTimeAsync(late.waitMs ?? 0);
      late.release?.({ statusCode: 200, isAborted: true });
      expect(refunds).toEqual(['default gone']);
    });

    it('does not wait where there is nothing to wait for', async () => {
      expect(await awaitTurn(await admit(callOf()), new AbortController().signal)).toBe(true);
    });
  });
});
