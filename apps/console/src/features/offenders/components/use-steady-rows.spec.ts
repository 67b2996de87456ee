import { expect, it } from 'vitest';
import { holdOrder } from './use-steady-rows';

interface Row {
  readonly id: string;
  readonly denials: number;
}
const key = (row: Row): string => row.id;

it('keeps each row in its place while its figures change', () => {
  const shown = [
    { id: 'a', denials: 9 },
    { id: 'b', denials: 5 },
  ];
  expect(
    holdOrder(
      shown,
      [
        { id: 'b', denials: 50 },
        { id: 'a', denials: 9 },
      ],
      key,
    ),
  ).toEqual([
    { id: 'a', denials: 9 },
    { id: 'b', denials: 50 },
  ]);
});

it('lets newcomers join at the end and keeps those that left', () => {
  expect(holdOrder([{ id: 'a', denials: 9 }], [{ id: 'c', denials: 99 }], key).map(key)).toEqual(['a', 'c']);
});
