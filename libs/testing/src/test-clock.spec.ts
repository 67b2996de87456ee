import { expect, it } from 'vitest';
import { TestClock } from './test-clock';

it('stands still until it is moved', () => {
  const { now, ...clock } = new TestClock(1_000);
  expect(clock).toBeDefined();
  expect(now()).toBe(1_000);
  expect(now()).toBe(1_000);
});

it('moves by and to what it is told, also backwards', () => {
  const clock = new TestClock(1_000);
  clock.advance(250);
  expect(clock.now()).toBe(1_250);
  clock.advance(-1_000);
  expect(clock.now()).toBe(250);
  clock.set(5);
  expect(clock.now()).toBe(5);
});
