import { InProcessLimitStore } from '@quotaplane/rate-limit';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Call } from '../decide/call';
import { planOf, type CallPlan } from '../decide/call-plan';
import { appliedTo, type Applied } from '../decide/charges';
import { decisionOf, type GuardDecision } from '../decide/guard-decision';
import { SlotLedger } from '../decide/slot-ledger';
import { limitOf, policyOf, type PolicyParts } from '../specs/policies';
import { LocalShare } from './local-share';
import { QuotaMemory } from './quota-memory';

const callOf = (cost: number): Call => ({
  tenant: 'hobby', isAnonymous: false, class: { slug: 'default', meter: 'requests', failMode: 'local' }, method: 'GET', route: '/', cost, address: '192.0.2.1', arrivedAtMs: 0,
});
const LANE = { overage: 'throttle', throttle: { limit: 4, windowMs: 3_600_000 } } as const;

describe('a quota while the store is away', () => {
  let memory: QuotaMemory;
  let nodes: number;
  let share: LocalShare;

  beforeEach(() => {
    memory = new QuotaMemory();
    nodes = 2;
    share = new LocalShare({
      store: new InProcessLimitStore({ maxCounters: 100, now: () => Date.now() }), slots: new SlotLedger(), quotas: memory,
      directory: { shareOf: (units) => Math.floor(units / nodes) }, incarnation: 'this',
    });
  });

  const planFor = (parts: PolicyParts, call: Call): CallPlan => {
    const [segment] = policyOf(parts).segments;
    if (!segment) throw new TypeError('a policy has a segment');
    return planOf(segment, call);
  };
  const quotaParts = (allowance: number, more: Partial<NonNullable<PolicyParts['quotas']>[number]> = {}): PolicyParts =>
    ({ limits: [], quotas: [{ meter: 'requests', allowance, overage: 'reject', ...more }] });
  /** The store's last word. */
  const hear = (parts: PolicyParts, remaining: number): void => {
    const applied = appliedTo(planFor(parts, callOf(1)), callOf(1), 1);
    memory.heard(applied, applied.map(() => ({ remaining, resetAfterMs: 1, moreAfterMs: 1, retryAfterMs: 0 })));
  };
  const judge = async (parts: PolicyParts, cost = 1): Promise<{ readonly decision: GuardDecision; readonly applied: readonly Applied[]; readonly isShareTooSmall: boolean }> => {
    const call = callOf(cost);
    const plan = planFor(parts, call);
    const applied = appliedTo(plan, call, 1).filter((one) => share.isJudged(one));
    const judged = await share.judge(call, plan, applied);
    if (!judged) throw new TypeError('outside of the segment');
    return { decision: decisionOf({ call, plan, applied, source: 'local', revision: 1, ...judged }), applied, isShareTooSmall: judged.isShareTooSmall };
  };
  const outcomes = async (count: number, parts: PolicyParts, cost = 1): Promise<string[]> => {
    const seen = [];
    for (let at = 0; at < count; at += 1) seen.push((await judge(parts, cost)).decision.outcome);
    return seen;
  };

  // Mutation: LocalQuota without spentOf, or with the whole quota in place of its share.
  it('gives away this node\'s share of what was left, and no more, however many come at once', async () => {
    const parts = quotaParts(100);
    hear(parts, 7);
    const judged = await Promise.all(Array.from({ length: 10 }, () => judge(parts)));
    expect(judged.filter(({ decision }) => decision.outcome === 'allowed')).toHaveLength(3);
    expect(judged.map(({ decision }) => decision.limits[0]?.remaining).slice(0, 4)).toEqual([2, 1, 0, 0]);
    // Others may have some left: that is the outage's fault.
    expect(judged.at(-1)?.isShareTooSmall).toBe(true);
  });

  it('is over until the period\'s end where nobody has any left', async () => {
    nodes = 1;
    const parts = quotaParts(100);
    hear(parts, 2);
    expect(await outcomes(2, parts)).toEqual(['allowed', 'allowed']);
    const { decision, isShareTooSmall } = await judge(parts);
    expect([decision.code, isShareTooSmall]).toEqual(['quota_exceeded', false]);
    expect((decision.retryAfterMs ?? 0) / 86_400_000).toBeCloseTo(20, 2);
    expect((await judge(parts, 0)).decision).toMatchObject({ outcome: 'allowed', limits: [{ remaining: 0 }] });
    expect((await judge(parts, 101)).decision.code).toBe('cost_exceeds_limit');
  });

  it('starts from the store\'s word again once it has answered', async () => {
    nodes = 1;
    const parts = quotaParts(100);
    hear(parts, 1);
    expect(await outcomes(2, parts)).toEqual(['allowed', 'denied']);
    hear(parts, 2);
    expect(await outcomes(3, parts)).toEqual(['allowed', 'allowed', 'denied']);
  });

  it('follows an allowance that another segment raises or lowers meanwhile', async () => {
    nodes = 1;
    hear(quotaParts(100), 1);
    expect((await judge(quotaParts(110))).decision.limits[0]?.remaining).toBe(10);
    expect((await judge(quotaParts(90))).decision.code).toBe('quota_exceeded');
  });

  it('passes where nothing is known, where it bills, and where there is no end', async () => {
    expect((await judge(quotaParts(1))).applied).toEqual([]);
    for (const parts of [quotaParts(1, { overage: 'bill', ceiling: 2 }), { limits: [], quotas: [{ meter: 'requests', allowance: null, overage: 'reject' as const }] }]) {
      hear(parts, 0);
      expect(await outcomes(3, parts)).toEqual(['allowed', 'allowed', 'allowed']);
    }
    expect((await judge(quotaParts(0))).decision.code).toBe('quota_exceeded');
  });

  // Mutation: the lane of all nodes in place of this node's share.
  it('falls to this node\'s share of the slower lane', async () => {
    const parts = quotaParts(100, LANE);
    hear(parts, 4);
    expect(await outcomes(4, parts)).toEqual(['allowed', 'allowed', 'allowed', 'allowed']);
    const { decision } = await judge(parts);
    expect(decision).toMatchObject({ outcome: 'denied', code: 'rate_limited', binding: { name: 'month-throttle' } });
    expect(decision.retryAfterMs).toBeGreaterThan(1_700_000);
    nodes = 5;
    expect((await judge(parts)).isShareTooSmall).toBe(true);
  });

  it('is not spent by a call that a rate or the lane denies', async () => {
    nodes = 1;
    const rate = limitOf({ algorithm: 'fixed-window', burst: null, limit: 2 });
    const parts = { ...quotaParts(100), limits: [rate] };
    const applied = appliedTo(planFor(parts, callOf(1)), callOf(1), 1);
    memory.heard(applied, applied.map(() => ({ remaining: 50, resetAfterMs: 1, moreAfterMs: 1, retryAfterMs: 0 })));
    expect(await outcomes(4, parts)).toEqual(['allowed', 'allowed', 'denied', 'denied']);
    expect((await judge(quotaParts(100))).decision.limits[0]?.remaining).toBe(47);
  });

  it('is remembered for so many and no more; of a forgotten one nothing is known', async () => {
    memory = new QuotaMemory(3);
    share = new LocalShare({
      store: new InProcessLimitStore({ maxCounters: 100, now: () => Date.now() }), slots: new SlotLedger(), quotas: memory, directory: { shareOf: (units) => units }, incarnation: 'this',
    });
    const parts = quotaParts(100);
    const charge = (tenant: string): Extract<Applied, { kind: 'quota' }>['charge'] => {
      const call = { ...callOf(1), tenant };
      const [one] = appliedTo(planFor(parts, call), call, 1);
      if (one?.kind !== 'quota') throw new TypeError('a quota applies');
      memory.heard([one], [{ remaining: 5, resetAfterMs: 1, moreAfterMs: 1, retryAfterMs: 0 }]);
      return one.charge;
    };
    const charges = Array.from({ length: 10 }, (_, index) => charge(`t${index}`));
    expect(charges.filter((one) => memory.isKnown(one))).toHaveLength(3);
    expect(memory.remainingOf(charges[0] ?? charge('t0'))).toBeUndefined();
  });
});
