import { describe, expect, it } from 'vitest';
import { NO_USAGE, settle } from './settlement';

const sums = { ...NO_USAGE, admitted: 90n, refunded: 10n, degraded: 50n };

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

  // Mutation: leave one of the lines out of what is used.
  it('adds up every line of the ledger, and what outages gave away takes only what they have left under cap', () => {
    const all = { ...sums, external: 7n, late: 5n, corrections: 4n, recovered: 2n };
    expect(settle(all, { settlement: 'waive', allowance: 100n, overage: 'bill' })).toMatchObject({ used: 90n, overage: 0n });
    expect(settle(all, { settlement: 'cap', allowance: 100n, overage: 'bill' })).toMatchObject({ settled: 10n, used: 100n });
    expect(settle({ ...NO_USAGE, admitted: 3n, corrections: 10n }, { settlement: 'bill', allowance: 100n, overage: 'bill' })).toMatchObject({ used: 0n, overage: 0n });
  });
});
