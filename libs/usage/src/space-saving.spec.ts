import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SpaceSaving } from './space-saving';

const streams = fc.array(fc.nat({ max: 30 }).map((index) => `s${Math.floor(index ** 2 / 30)}`), { maxLength: 300 });

describe('SpaceSaving', () => {
  // Mutation: start a newcomer at 1, or give up any place but the smallest.
  it('never counts too little, never too much by more than it says, and keeps every key above total / capacity', () => {
    fc.assert(fc.property(streams, fc.integer({ min: 1, max: 12 }), (stream, capacity) => {
      const sketch = new SpaceSaving(capacity, () => null);
      const truth = new Map<string, number>();
      for (const key of stream) {
        sketch.add(key);
        truth.set(key, (truth.get(key) ?? 0) + 1);
      }
      expect(sketch.size).toBeLessThanOrEqual(capacity);
      expect([...sketch].reduce((sum, { count }) => sum + count, 0)).toBe(stream.length);
      expect(sketch.floor).toBeLessThanOrEqual(stream.length / capacity);
      for (const { key, count, error } of sketch) {
        expect(error).toBeLessThanOrEqual(sketch.floor);
        expect(count - (truth.get(key) ?? 0)).toBeGreaterThanOrEqual(0);
        expect(count - (truth.get(key) ?? 0)).toBeLessThanOrEqual(error);
      }
      for (const [key, count] of truth) if (count > sketch.floor) expect(sketch.get(key)).toBeDefined();
    }), { numRuns: 500 });
  });

  // Mutation: keep the set of a count that nobody has any more.
  it('holds 1,000,000 distinct keys in the memory of its counters', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const sketch = new SpaceSaving(500, () => ({ seenMs: 0 }));
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let index = 0; index < 1_000_000; index += 1) {
      sketch.add(`anonymous/ip/10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`);
      if (index % 10 === 0) sketch.add('the heavy one');
    }
    collect();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(2_000_000);
    expect([sketch.size, sketch.total]).toEqual([500, 1_100_000]);
    expect(sketch.get('the heavy one')?.count).toBeGreaterThanOrEqual(100_000);
    expect(sketch.floor).toBeLessThanOrEqual(1_100_000 / 500);
  });
});
