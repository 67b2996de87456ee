import { expect, it } from 'vitest';
import { differenceWords, storesOf, verdictOf, verdictOfAll } from './reconciliation-words';

const LINE = {
  meter: 'requests', counters: '9007199254740998', journals: null, ledger: '9007199254740993',
  countersDifference: '5', journalsDifference: null, agrees: false, explained: [],
};

it('says in words how each store compares with the ledger, to the unit', () => {
  const [ledger, journals, counters] = storesOf(LINE);
  expect(ledger?.units).toBe('9007199254740993');
  expect(journals && differenceWords(journals)).toBe('holds nothing any more');
  expect(counters && differenceWords(counters)).toBe('5 more than the ledger');
  expect(counters && differenceWords({ ...counters, difference: '-9007199254740993' })).toBe('9,007,199,254,740,993 fewer than the ledger');
  expect(counters && differenceWords({ ...counters, difference: '0' })).toBe('agrees');
});

it('claims no agreement where there is nothing to agree with', () => {
  expect([LINE, { ...LINE, agrees: true }, { ...LINE, agrees: true, counters: null }].map(verdictOf)).toEqual(['differ', 'agree', 'alone']);
});

it('lets one meter that differs speak for the statement', () => {
  const [agreeing, alone] = [{ ...LINE, agrees: true }, { ...LINE, agrees: true, counters: null }];
  expect([[agreeing, LINE], [alone, agreeing], [alone], []].map((reconciliation) => verdictOfAll({ reconciliation }))).toEqual(['differ', 'agree', 'alone', 'alone']);
});
