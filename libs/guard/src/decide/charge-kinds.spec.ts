import { ALGORITHMS, type Algorithm, type CompiledLimit } from '@quotaplane/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limitOf } from '../specs/policies';
import { capacityOf, CHARGE_KINDS, rateCharge, sharedCharge, type ChargedLimit } from './charge-kinds';

const chargedOf = (algorithm: Algorithm, parts: Partial<CompiledLimit> = {}): ChargedLimit => {
  const limit = limitOf({ algorithm, burst: null, ...(algorithm === 'leaky-bucket' ? { maxQueue: 6, maxWaitMs: 500 } : {}), ...parts });
  const limiting = { ...limit, limit: limit.limit ?? 0 };
  return { limit: limiting, kind: CHARGE_KINDS[algorithm], capacity: capacityOf(limiting) };
};
const COUNTED = { counter: 'c' };
/** As NodeDirectory shares: the floor, and the remainder to the first nodes. */
const shareOf = (nodes: number, place: number) => (units: number): number => Math.floor(units / nodes) + (place < units % nodes ? 1 : 0);

describe('the charge of a limit', () => {
  it.each([
    ['token-bucket', 20, { kind: 'bucket', limit: 100, capacity: 20 }],
    ['gcra', 20, { kind: 'bucket', limit: 100, capacity: 20 }],
    ['leaky-bucket', 7, { kind: 'queue', limit: 100, capacity: 7, maxWaitMs: 500 }],
    ['fixed-window', 100, { kind: 'window', limit: 100, alignment: 'epoch' }],
    ['sliding-log', 100, { kind: 'log', limit: 100 }],
    ['sliding-counter', 100, { kind: 'counter', limit: 100 }],
  ] as const)('of %s has a capacity of %i', (algorithm, capacity, charge) => {
    const rate = chargedOf(algorithm, capacity === 20 ? { burst: 20 } : {});
    expect(rate.capacity).toBe(capacity);
    expect(rateCharge(rate, COUNTED, 3)).toEqual({ counter: 'c', windowMs: 60_000, cost: 3, ...charge });
  });

  it('carries the strikes of its counter only where there are any', () => {
    const penalty = { counter: 'p', strikes: 3, withinMs: 1000, banMs: 1000, factor: 2, maxBanMs: 1000, forgiveAfterMs: 1000 };
    expect(rateCharge(chargedOf('gcra'), { counter: 'c', penalty }, 1)).toMatchObject({ penalty });
    expect('penalty' in rateCharge(chargedOf('gcra'), COUNTED, 1)).toBe(false);
  });

  // Fails when a share is rounded up, or the capacity of a queue is not shared.
  it('is shared without a unit more or less than the limit, whatever the algorithm and the fleet', () => {
    const amount = fc.integer({ min: 0, max: 10_000 });
    fc.assert(fc.property(fc.constantFrom(...ALGORITHMS), amount, amount, fc.integer({ min: 1, max: 40 }), (algorithm, limit, extra, nodes) => {
      const isBucket = CHARGE_KINDS[algorithm] === 'bucket';
      const rate = chargedOf(algorithm, { limit, ...(isBucket ? { burst: extra + 1 } : {}), ...(algorithm === 'leaky-bucket' ? { maxQueue: extra } : {}) });
      const shares = Array.from({ length: nodes }, (_, place) => sharedCharge(rate, COUNTED, 1, shareOf(nodes, place)));
      const sum = (figure: (one: (typeof shares)[number]) => number): number => shares.reduce((total, one) => total + figure(one), 0);
      expect(sum((one) => one.limit)).toBeLessThanOrEqual(limit);
      expect(sum((one) => ('capacity' in one ? one.capacity : one.limit))).toBeLessThanOrEqual(rate.capacity);
      // A node without any of the one gives nothing of the other: neither a bucket that never refills, nor one that holds nothing.
      for (const one of shares) if ('capacity' in one) expect(one.limit === 0).toBe(one.capacity === 0);
      if (!('capacity' in rateCharge(rate, COUNTED, 1))) expect(sum((one) => one.limit)).toBe(limit);
    }));
  });
});
