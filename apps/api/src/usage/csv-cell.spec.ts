import { expect, it } from 'vitest';
import { safeCell } from './csv-cell';

it('disarms what a spreadsheet would run, and leaves figures alone', () => {
  expect(['=1+1', '+A1', '-A1', '@SUM(A1)', '\tx', '\rx'].map(safeCell)).toEqual(["'=1+1", "'+A1", "'-A1", "'@SUM(A1)", "'\tx", "'\rx"]);
  expect(['acme', '2026-11-01', '-5', '0', ''].map(safeCell)).toEqual(['acme', '2026-11-01', '-5', '0', '']);
});
