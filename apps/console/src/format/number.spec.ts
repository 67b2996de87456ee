import { describe, expect, it } from 'vitest';
import { formatCount, formatPercent, formatRate, formatShort, formatWindow, parseWindow, percentOf } from './number';

describe('formatCount', () => {
  it('groups a ledger total past 2^53 without rounding it', () => {
    expect(formatCount('90071992547409931234')).toBe('90,071,992,547,409,931,234');
  });

  it('says unlimited in words', () => {
    expect(formatCount(null)).toBe('unlimited');
  });
});

describe('formatShort', () => {
  it.each([
    [0, '0'],
    [999, '999'],
    [1000, '1K'],
    [12_034, '12K'],
    [8_342_119, '8.34M'],
    ['4000000000', '4B'],
    [-1500, '-1.5K'],
  ] as const)('shows %s as %s', (units, shown) => {
    expect(formatShort(units)).toBe(shown);
  });

  it('never rounds up to a unit that is not reached', () => {
    expect(formatShort(999_999)).toBe('999K');
    expect(formatShort(9_999_999)).toBe('9.99M');
  });
});

describe('formatRate', () => {
  it.each([
    [6000, 60_000, '6,000 per min'],
    [5, 1000, '5 per s'],
    [20, 900_000, '20 per 15 min'],
    [1, 1500, '1 per 1500 ms'],
    [10, 86_400_000, '10 per day'],
  ] as const)('carries unit and window: %s in %s ms', (limit, windowMs, shown) => {
    expect(formatRate(limit, windowMs)).toBe(shown);
  });
});

describe('windows as they are typed', () => {
  it.each([60_000, 1000, 1500, 900_000, 3_600_000, 86_400_000])('reads back what it shows: %s ms', (windowMs) => {
    expect(parseWindow(formatWindow(windowMs))).toBe(windowMs);
  });

  it.each(['', '1', 'm', '1.5m', '-1m', '1 week'])('refuses %j', (text) => {
    expect(parseWindow(text)).toBeUndefined();
  });
});

describe('percentOf', () => {
  it('rounds down, so that 100% is only shown when nothing is left', () => {
    expect(percentOf('999999', 1_000_000)).toBe(99.9);
    expect(percentOf('1000000', 1_000_000)).toBe(100);
  });

  it('has none without an allowance, and is full on an allowance of nothing', () => {
    expect(percentOf('5', null)).toBeNull();
    expect(percentOf('0', 0)).toBe(0);
    expect(percentOf('1', 0)).toBe(100);
  });

  it('shows a use that is not zero as more than 0%', () => {
    expect(formatPercent(percentOf('1', 1_000_000), true)).toBe('<0.1%');
    expect(formatPercent(0)).toBe('0%');
  });
});
