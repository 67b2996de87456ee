import { RetryWatch, type RetryResult } from '@quotaplane/usage';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Call } from './call';
import type { GuardDecision } from './guard-decision';
import { UsageRecorder } from './usage-recorder';

const callOf = (parts: Partial<Call> = {}): Call => ({
  tenant: 'acme', isAnonymous: false, class: { slug: 'search', meter: 'requests', failMode: 'local' }, method: 'GET', route: '/', cost: 10, address: '192.0.2.1',
  keyId: 'k', arrivedAtMs: 0, ...parts,
});
const decisionAt = (nowMs: number, parts: Partial<GuardDecision> = {}): GuardDecision => ({
  outcome: 'allowed', source: 'store', tenant: 'acme', tier: 'pro', revision: 1, cost: 1, limits: [], nowMs, ...parts,
});
const deniedAt = (nowMs: number): GuardDecision => decisionAt(nowMs, { outcome: 'denied', code: 'rate_limited', retryAfterMs: 1500 });

describe('usage of decided calls', () => {
  const results: RetryResult[] = [];
  const units: number[] = [];
  let usage: UsageRecorder;

  beforeEach(() => {
    results.length = 0;
    units.length = 0;
    const journal = { admit: () => undefined, admitDegraded: () => undefined, refund: () => 0, doubt: () => undefined };
    const traffic = { allowed: (_tenant: string, count: number) => void units.push(count), denied: () => undefined };
    usage = new UsageRecorder(journal, { record: () => undefined }, traffic, { watch: new RetryWatch({ onRetry: (result) => void results.push(result) }), storeNow: () => 0 });
  });

  it('tells whether clients wait as told: by whole seconds, as the header said', () => {
    usage.decided(callOf(), deniedAt(1000));
    usage.decided(callOf(), decisionAt(2900));
    usage.decided(callOf(), deniedAt(10_000));
    usage.decided(callOf(), decisionAt(12_000));
    usage.decided(callOf(), deniedAt(20_000));
    usage.decided(callOf(), deniedAt(22_000));
    expect(results).toEqual(['early', 'passed', 'denied_again']);
  });

  it('keeps callers and classes apart', () => {
    usage.decided(callOf(), deniedAt(1000));
    usage.decided(callOf({ keyId: 'other' }), decisionAt(1100));
    usage.decided(callOf({ class: { slug: 'other', meter: 'requests', failMode: 'local' } }), decisionAt(1100));
    expect(results).toEqual([]);
  });

  it('counts the units that were charged, not those of the full cost', () => {
    usage.decided(callOf(), decisionAt(0, { cost: 1 }));
    expect(units).toEqual([1]);
  });
});
