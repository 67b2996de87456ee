import { expect, it } from 'vitest';
import { sumOf } from './settlement-words';

it('adds decimal strings up exactly, past what a number can hold', () => {
  expect(sumOf(['9007199254740993', '1'], (text) => text)).toBe('9007199254740994');
  expect(sumOf([], String)).toBe('0');
});
