import { expect, it } from 'vitest';
import { breakdownLines, outlookOf, remainingWith } from './usage-figures';

const PERIOD = { start: '2026-11-01T00:00:00Z', end: '2026-12-01T00:00:00Z' };
const AT_A_TENTH = '2026-11-04T00:00:00Z';
const paced = (more: Partial<Parameters<typeof outlookOf>[0]>) => ({ period: PERIOD, used: '200', allowance: '1000', remaining: '800', asOf: AT_A_TENTH, status: 'open' as const, ...more });

it('says when the allowance is spent at the pace so far', () => {
  expect(outlookOf(paced({}))).toEqual({ kind: 'ends', atMs: Date.parse('2026-11-16T00:00:00Z') });
});

it('names no date when it will last, when it is spent, and when nothing can be said', () => {
  expect(outlookOf(paced({ used: '100', remaining: '900' })).kind).toBe('lasts');
  expect(outlookOf(paced({ used: '0', remaining: '1000' })).kind).toBe('unknown');
  expect(outlookOf(paced({ used: '1000', remaining: '0' })).kind).toBe('spent');
  expect(outlookOf(paced({ allowance: null, remaining: null })).kind).toBe('unlimited');
  expect(outlookOf(paced({ asOf: PERIOD.start })).kind).toBe('unknown');
  expect(outlookOf(paced({ status: 'ended' })).kind).toBe('lasts');
});

it('stays exact where a number of JavaScript would not', () => {
  const used = String(2n ** 60n);
  expect(outlookOf(paced({ used, allowance: String(2n ** 60n * 5n), remaining: String(2n ** 60n * 4n) }))).toEqual({ kind: 'ends', atMs: Date.parse('2026-11-16T00:00:00Z') });
});

it('takes what is past the allowance off a grant', () => {
  expect(remainingWith({ remaining: '3', overage: '0' }, 5n)).toBe('8');
  expect(remainingWith({ remaining: '0', overage: '2' }, 5n)).toBe('3');
  expect(remainingWith({ remaining: '0', overage: '9' }, 5n)).toBe('0');
  expect(remainingWith({ remaining: null, overage: '0' }, 5n)).toBeNull();
});

const BREAKDOWN = { admitted: '100', refunded: '7', degraded: '9007199254740993', settled: '0', external: '0', late: '4', recovered: '0', corrections: '-2' };

it('adds up to what was used', () => {
  expect(breakdownLines(BREAKDOWN).reduce((sum, { units }) => sum + BigInt(units), 0n)).toBe(95n);
});

it('leaves out what is 0, but says that an outage was waived, to the unit', () => {
  const lines = breakdownLines(BREAKDOWN, { isQuiet: true });
  expect(lines.map(({ key }) => key)).toEqual(['admitted', 'refunded', 'settled', 'late', 'corrections']);
  expect(lines.find(({ key }) => key === 'settled')?.note).toContain('9,007,199,254,740,993');
});
