import { describe, expect, it } from 'vitest';
import { settle } from './settlement';

const sums = { admitted: 90n, refunded: 10n, degraded: 50n };

describe('settle', () => {
  it.each([
    ['bill', 130n, 30n],
    ['waive', 80n, 0n],
    ['cap', 100n, 0n],
  ] as const)('settles degraded units by %s', (settlement, used, overage) => {
    expect(settle(sums, { settlement, allowance: 100n, overage: 'bill' })).toMatchObject({ used, overage, billable: overage });
  });

  it('bills nothing under reject, knows no overage without an allowance, and caps at nothing when the allowance is spent', () => {
    expect(settle(sums, { settlement: 'bill', allowance: 100n, overage: 'reject' })).toMatchObject({ overage: 30n, billable: 0n });
    expect(settle(sums, { settlement: 'cap', allowance: null, overage: 'bill' })).toMatchObject({ used: 130n, overage: 0n });
    expect(settle(sums, { settlement: 'cap', allowance: 40n, overage: 'bill' })).toMatchObject({ settled: 0n, used: 80n, overage: 40n });
  });
});
