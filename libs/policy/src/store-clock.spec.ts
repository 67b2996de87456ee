import { TestClock } from '@quotaplane/testing';
import { expect, it } from 'vitest';
import { StoreClock } from './store-clock';

const start = (): { monotonic: TestClock; clock: StoreClock } => {
  const monotonic = new TestClock(5_000);
  return { monotonic, clock: new StoreClock(monotonic.now) };
};

it('keeps store time by the monotonic clock between answers, an hour away from this node', () => {
  const { monotonic, clock } = start();
  const storeMs = Date.now() + 3_600_000;
  expect(clock.isKnown).toBe(false);
  clock.observe(storeMs);
  monotonic.advance(1_234);
  expect([clock.isKnown, clock.now()]).toEqual([true, storeMs + 1_234]);
});

it('is not pulled back by a late reply, but follows a store whose clock stepped back', () => {
  const { monotonic, clock } = start();
  clock.observe(1_000_000);
  monotonic.advance(100);
  clock.observe(1_000_080);
  expect(clock.now()).toBe(1_000_100);
  clock.observe(990_000);
  expect(clock.now()).toBe(990_000);
});

it('follows small steps back within a second', () => {
  const { monotonic, clock } = start();
  clock.observe(1_000_000);
  monotonic.advance(1_000);
  clock.observe(1_000_980);
  expect(clock.now()).toBe(1_000_980);
});
