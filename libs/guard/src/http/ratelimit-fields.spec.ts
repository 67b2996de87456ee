import fc from 'fast-check';
import { parseList, serializeList } from 'structured-headers';
import { describe, expect, it } from 'vitest';
import { planOf, type CallPlan } from '../decide/call-plan';
import { appliedTo } from '../decide/charges';
import type { Call } from '../decide/call';
import { decisionOf, type GuardDecision } from '../decide/guard-decision';
import { limitOf, policyOf, type PolicyParts } from '../specs/policies';
import { fieldsOf, retryAfterSeconds } from './ratelimit-fields';

const call: Call = {
  tenant: 'hobby', isAnonymous: false, class: { slug: 'default', meter: 'requests', failMode: 'local' }, method: 'GET', route: '/echo', cost: 1, address: '192.0.2.1', arrivedAtMs: 0,
};
const planFor = (parts: PolicyParts): CallPlan => {
  const [segment] = policyOf(parts).segments;
  if (!segment) throw new Error('a policy has a segment');
  return planOf(segment, call);
};

interface Figures {
  readonly remaining: number;
  readonly resetAfterMs?: number;
  readonly moreAfterMs?: number;
  readonly retryAfterMs?: number;
  readonly lane?: { remaining: number; resetAfterMs: number; moreAfterMs: number; retryAfterMs: number };
}
const judged = (parts: PolicyParts, figures: readonly Figures[]): GuardDecision => {
  const plan = planFor(parts);
  const states = figures.map((figure) => ({ resetAfterMs: 0, moreAfterMs: 0, retryAfterMs: 0, ...figure }));
  const isAllowed = states.every((state) => state.retryAfterMs === 0);
  return decisionOf({ call, plan, applied: appliedTo(plan, call, 1), states, isAllowed, source: 'store', revision: 1, nowMs: NOW_MS });
};
/** A whole second: fields count from the beginning of the answer's second. */
const NOW_MS = 1_790_000_000_000;
const fields = (decision: GuardDecision, legacyHeaders = false): Record<string, string> => Object.fromEntries(fieldsOf(decision, { legacyHeaders }));

describe('the rate limit fields', () => {
  it('are structured fields that a parser takes and writes again the same, whatever the figures', () => {
    const figure = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
    fc.assert(fc.property(figure, figure, figure, (remaining, resetAfterMs, moreAfterMs) => {
      const written = fields(judged({ limits: [limitOf(), limitOf({ name: 'a-1', burst: null, limit: 7, algorithm: 'fixed-window' })] }, [{ remaining, resetAfterMs, moreAfterMs }, { remaining: 3 }]));
      for (const name of ['RateLimit', 'RateLimit-Policy']) expect(serializeList(parseList(written[name] ?? ''))).toBe(written[name]);
      const [[, parameters] = ['', new Map()]] = parseList(written['RateLimit'] ?? '');
      expect(parameters.get('pk')).toBeInstanceOf(ArrayBuffer);
    }));
  });

  it('keep the policy constant while figures change', () => {
    const parts = { limits: [limitOf()] };
    expect(fields(judged(parts, [{ remaining: 20 }]))['RateLimit-Policy']).toBe(fields(judged(parts, [{ remaining: 0, retryAfterMs: 5 }]))['RateLimit-Policy']);
  });

  it('round seconds up and wait at least one', () => {
    const written = fields(judged({}, [{ remaining: 0, resetAfterMs: 12_001, moreAfterMs: 1, retryAfterMs: 1 }]));
    expect(written).toMatchObject({ 'Retry-After': '1', 'RateLimit-Reset': '13', 'Cache-Control': 'no-store' });
    expect(written['RateLimit']).toContain(';r=0;t=1;');
    expect([0, 1, 1_000, 1_001].map(retryAfterSeconds)).toEqual([1, 1, 1, 2]);
  });

  it('show the violated limits only on a denial, and the largest wait', () => {
    const parts = { limits: [limitOf(), limitOf({ name: 'hour', windowMs: 3_600_000 }), limitOf({ name: 'fine' })] };
    const decision = judged(parts, [{ remaining: 0, retryAfterMs: 500 }, { remaining: 0, retryAfterMs: 30_000 }, { remaining: 9 }]);
    const written = fields(decision);
    expect(parseList(written['RateLimit'] ?? '').map(([name]) => name)).toEqual(['per-minute', 'hour']);
    expect(written['Retry-After']).toBe('30');
    expect(decision.binding?.name).toBe('hour');
  });

  it('cap what is left of a month by what the short limits let through until its end', () => {
    const quotas = [{ meter: 'requests', allowance: 1_000_000, overage: 'reject' as const }];
    const written = fields(judged({ quotas }, [{ remaining: 20 }, { remaining: 900_000, resetAfterMs: 30_000, moreAfterMs: 30_000 }]));
    // 20 now and 100 a minute for half a minute.
    expect(written['RateLimit']).toContain('"month";r=70;t=30;');
    expect(written['RateLimit-Limit']).toBe('1000000');
  });

  it('name the slower lane from the first call on and steer by it past the allowance', () => {
    const quotas = [{ meter: 'requests', allowance: 10, overage: 'throttle' as const, throttle: { limit: 5, windowMs: 60_000 } }];
    const before = judged({ quotas }, [{ remaining: 20 }, { remaining: 4 }]);
    const lane = { remaining: 2, resetAfterMs: 36_000, moreAfterMs: 12_000, retryAfterMs: 0 };
    const past = judged({ quotas }, [{ remaining: 20 }, { remaining: 0, lane }]);
    expect(fields(before)['RateLimit-Policy']).toBe(fields(past)['RateLimit-Policy']);
    expect(fields(before)['RateLimit-Policy']).toContain('"month-throttle";q=5;w=60');
    expect(fields(past)).toMatchObject({ 'RateLimit-Limit': '5', 'RateLimit-Remaining': '2', 'RateLimit-Reset': '36' });
    const denied = judged({ quotas }, [{ remaining: 20 }, { remaining: 0, lane: { ...lane, remaining: 0, retryAfterMs: 12_000 } }]);
    expect(denied).toMatchObject({ outcome: 'denied', code: 'rate_limited', retryAfterMs: 12_000 });
  });

  it('add the older X- names where they are asked for', () => {
    expect(fields(judged({}, [{ remaining: 5, resetAfterMs: 1000 }]), true)).toMatchObject({ 'X-RateLimit-Limit': '20', 'X-RateLimit-Remaining': '5', 'X-RateLimit-Reset': '1' });
  });

  // Fails when seconds are counted from the instant of the judgement instead of from its second.
  it('P04 name one instant of reset to all calls of a window, whenever in it they come', () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 90_000 }), fc.integer({ min: 0, max: 999 }), fc.array(fc.nat(89_999), { minLength: 2, maxLength: 10 }), (windowMs, offsetMs, calls) => {
      const endMs = NOW_MS + offsetMs + windowMs;
      const instants = calls.map((atMs) => {
        const nowMs = NOW_MS + offsetMs + (atMs % windowMs);
        const decision = judged({ limits: [limitOf({ algorithm: 'fixed-window', burst: null, windowMs })] }, [{ remaining: 5, resetAfterMs: endMs - nowMs, moreAfterMs: endMs - nowMs }]);
        const written = fields({ ...decision, nowMs });
        expect(written['RateLimit']).toContain(`;t=${written['RateLimit-Reset']};`);
        // What a client adds it to: the answer's Date, which is in whole seconds.
        return Math.floor(nowMs / 1000) + Number(written['RateLimit-Reset']);
      });
      expect(new Set(instants)).toEqual(new Set([Math.ceil(endMs / 1000)]));
    }));
  });

  it('count from the departure of a call that waits in a queue', () => {
    const decision = judged({ limits: [limitOf({ algorithm: 'fixed-window', burst: null })] }, [{ remaining: 5, resetAfterMs: 30_000, moreAfterMs: 30_000 }]);
    expect(fields({ ...decision, waitMs: 12_000 })).toMatchObject({ 'RateLimit-Reset': '18' });
    expect(fields({ ...decision, waitMs: 40_000 })).toMatchObject({ 'RateLimit-Reset': '0' });
  });

  it('name calls in flight by their own unit, never in the older three', () => {
    const plan = planFor({ limits: [], concurrency: 50 });
    const held = { ...call, holdsSlot: true };
    const states = [{ remaining: 0, resetAfterMs: 0, moreAfterMs: 1000, retryAfterMs: 1000 }];
    const decision = decisionOf({ call: held, plan, applied: appliedTo(plan, held, 1), states, isAllowed: false, source: 'store', revision: 1, nowMs: NOW_MS });
    const written = fields(decision);
    expect(written['RateLimit-Policy']).toBe('"in-flight";q=50;qu="concurrent-requests"');
    expect(written['RateLimit']).toMatch(/^"in-flight";r=0;t=1;pk=:.*:;qp-cost=1$/);
    expect(Object.keys(written).sort()).toEqual(['Cache-Control', 'RateLimit', 'RateLimit-Policy', 'Retry-After']);
    expect(decision.code).toBe('concurrency_exceeded');
  });

  it('tell a queue by what it holds when nobody waits', () => {
    const queue = limitOf({ algorithm: 'leaky-bucket', limit: 10, burst: null, maxQueue: 4, maxWaitMs: 1000 });
    const written = fields(judged({ limits: [queue] }, [{ remaining: 4 }]));
    expect(written).toMatchObject({ 'RateLimit-Policy': '"per-minute";q=10;w=60;qp-burst=5', 'RateLimit-Limit': '5', 'RateLimit-Remaining': '4' });
  });
});
