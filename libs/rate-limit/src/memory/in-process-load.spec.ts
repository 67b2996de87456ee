import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { TestClock } from '@quotaplane/testing';
import { describe, expect, it } from 'vitest';
import { checkOf, countOf } from '../rig/connected';
import { KINDS, rateOf } from '../rig/rates';
import type { Verdict } from '../store';
import { InProcessLimitStore } from './in-process-limit-store';

const HITS = 100_000;
const HEAP_GROWTH_MAX_BYTES = 10 << 20;

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc') as () => void;

const heapUsed = (): number => {
  collect();
  return process.memoryUsage().heapUsed;
};

const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout' || name === 'Immediate').length;

describe('C021', () => {
  // Mutation: end each counter, or each hit, by a timer of its own; or keep the hits instead of their sum.
  it.each(KINDS)('C021 holds no timer and no memory for 100,000 hits: %s', { timeout: 60_000 }, async (kind) => {
    const clock = new TestClock();
    const store = new InProcessLimitStore({ maxCounters: 1_000, now: clock.now });
    const hit = (at: number): Promise<Verdict> => store.judgeAndSpend(checkOf([{ ...rateOf(kind, 1_000), counter: `qp:{t}:c:subject-${at % 500}` }]), 0);
    // Every subject once, so that what is measured is the hits and not the counters.
    await Promise.all(Array.from({ length: 500 }, (_, at) => hit(at)));
    const [timersBefore, heapBefore] = [timers(), heapUsed()];
    let allowed = 0;
    for (let at = 0; at < HITS; at += 1_000) {
      clock.advance(100);
      allowed += countOf(await Promise.all(Array.from({ length: 1_000 }, (_, more) => hit(at + more))), 'allowed');
    }
    expect(allowed).toBe(HITS);
    expect(timers()).toBeLessThanOrEqual(timersBefore);
    expect(heapUsed() - heapBefore).toBeLessThan(HEAP_GROWTH_MAX_BYTES);
  });
});
