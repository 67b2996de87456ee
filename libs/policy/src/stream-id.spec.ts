import { expect, it } from 'vitest';
import { compareStreamIds } from './stream-id';

it('orders ids by number, not as text', () => {
  const ids = ['0-0', '5-9', '5-10', '9-0', '10-0', '1700000000000-0', '1700000000000-12'];
  expect([...ids].sort().sort(compareStreamIds)).toEqual(ids);
  expect(compareStreamIds('7-1', '7-1')).toBe(0);
});

it('takes what is no id for the start of the stream', () => {
  expect(compareStreamIds('', '0-0')).toBe(0);
  expect(compareStreamIds('$', '1-0')).toBeLessThan(0);
});
