import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { csvLine, safeCell } from './csv-cell';

it('disarms what a spreadsheet would run, and leaves figures alone', () => {
  expect(['=1+1', '+A1', '-A1', '@SUM(A1)', '\tx', '\rx'].map(safeCell)).toEqual(["'=1+1", "'+A1", "'-A1", "'@SUM(A1)", "'\tx", "'\rx"]);
  expect(['acme', '2026-11-01', '-5', '0', ''].map(safeCell)).toEqual(['acme', '2026-11-01', '-5', '0', '']);
});

// Mutation: quote no line feed.
it('writes lines as another writer of CSV does', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', '7', '-', '=', ',', '"', '\n', ' ', 'é') });
  fc.assert(fc.property(fc.array(cell, { minLength: 2, maxLength: 6 }), (cells) => {
    expect(csvLine(cells)).toBe(stringify([cells.map(safeCell)]));
  }));
});
