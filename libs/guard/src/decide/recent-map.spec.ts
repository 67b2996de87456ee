import { describe, expect, it } from 'vitest';
import { RecentMap } from './recent-map';

const fill = (map: RecentMap<number>, from: number, to: number): void => {
  for (let at = from; at < to; at += 1) if (map.get(`k${at}`) === undefined) map.set(`k${at}`, at);
};

describe('a map of what was asked for lately', () => {
  // Mutation: clear the map when it is full, or leave what was read in the old generation.
  it('finds keys that come again before as many others as a generation holds, round after round', () => {
    const map = new RecentMap<number>(100);
    fill(map, 0, 90);
    let missed = 0;
    for (let round = 0; round < 5; round += 1) {
      for (let at = 0; at < 90; at += 1) if (map.get(`k${at}`) !== at) missed += 1;
      fill(map, 1000 + round * 10, 1010 + round * 10);
    }
    expect(missed).toBe(0);
    expect(map.size).toBeLessThanOrEqual(200);
  });

  // Mutation: keep both generations when a third begins.
  it('never holds more than two generations', () => {
    const map = new RecentMap<number>(100);
    fill(map, 0, 10_000);
    expect(map.size).toBeLessThanOrEqual(200);
    expect(map.get('k9999')).toBe(9999);
    expect(map.get('k0')).toBeUndefined();
  });

  // Mutation: count no budget over all maps, or empty the map in use in place of an idle one.
  it('shares one budget with all others: an idle one is emptied for those in use', () => {
    const idle = new RecentMap<number>(60_000);
    const busy = new RecentMap<number>(60_000);
    fill(idle, 0, 60_000);
    fill(busy, 0, 59_000);
    expect(idle.size).toBe(0);
    expect(busy.size).toBe(59_000);
    fill(busy, 59_000, 300_000);
    expect(busy.size).toBeLessThanOrEqual(100_000);
    expect(busy.get('k299999')).toBe(299_999);
  });
});
