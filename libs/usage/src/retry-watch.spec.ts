import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RetryWatch, type RetryResult } from './retry-watch';

const subject = { tenant: 'hobby', scope: 'tenant', subject: 'hobby' } as const;
const told = (deniedAtMs: number, retryAfterMs = 1_000) => ({ subject, deniedAtMs, retryAfterMs });

describe('RetryWatch', () => {
  // Mutation: do not count a client of the tenant again when its denial is renewed, or not off when it was judged or forgotten.
  it('says whose calls it can say anything of: of tenants with a client that was told to wait, and no others', () => {
    const watch = new RetryWatch({ maxClients: 2 });
    const other = { ...told(0), subject: { ...subject, tenant: 'other' } };
    watch.denied('a', told(0));
    watch.denied('a', told(100));
    watch.denied('o', other);
    expect([watch.isWatching('hobby'), watch.isWatching('other'), watch.isWatching('third')]).toEqual([true, true, false]);
    watch.denied('p', other);
    expect(watch.isWatching('hobby')).toBe(false);
    watch.called('o', 5_000);
    expect(watch.isWatching('other')).toBe(true);
    watch.called('p', 5_000);
    expect(watch.isWatching('other')).toBe(false);
  });

  // Mutations: judge by the denial's instant; leave the entry after the first call; count an early call that passed as passed.
  it.each<[string, (watch: RetryWatch) => RetryResult | undefined, RetryResult | undefined]>([
    ['a first call', (watch) => watch.called('a', 0), undefined],
    ['a call before the told instant', (watch) => [watch.denied('a', told(0)), watch.called('a', 900)][1], 'early'],
    ['a denied call before the told instant', (watch) => [watch.denied('a', told(0)), watch.denied('a', told(900))][1], 'early'],
    ['a call at the told instant', (watch) => [watch.denied('a', told(0)), watch.called('a', 1_000)][1], 'passed'],
    ['a call that waited and is denied once more', (watch) => [watch.denied('a', told(0)), watch.denied('a', told(1_000))][1], 'denied_again'],
    ['a second call after the first was judged', (watch) => [watch.denied('a', told(0)), watch.called('a', 1_000), watch.called('a', 1_001)][2], undefined],
    ['a call before the instant that the last of two denials told', (watch) => [watch.denied('a', told(0)), watch.denied('a', told(900)), watch.called('a', 1_800)][2], 'early'],
    ['a call of somebody else', (watch) => [watch.denied('a', told(0)), watch.called('b', 1)][1], undefined],
  ])('judges %s', (_, call, result) => {
    expect(call(new RetryWatch())).toBe(result);
  });

  // Mutation: forget the newest, or do not count who was forgotten.
  it('remembers a bounded number of clients and counts the oldest it lets go', () => {
    const watch = new RetryWatch({ maxClients: 2 });
    for (const client of ['a', 'b', 'a', 'c']) watch.denied(client, told(0));
    expect([watch.size, watch.forgotten, watch.called('b', 5_000), watch.called('a', 5_000), watch.called('c', 5_000)]).toEqual([2, 1, undefined, 'passed', 'passed']);
  });

  it('judges each call at most once, tells each result once, and never remembers more than it may', () => {
    const calls = fc.array(fc.record({ client: fc.constantFrom('a', 'b', 'c', 'd'), isDenied: fc.boolean(), afterMs: fc.nat({ max: 1_500 }) }), { maxLength: 100 });
    fc.assert(fc.property(calls, (stream) => {
      const results: RetryResult[] = [];
      const watch = new RetryWatch({ maxClients: 3, onRetry: (result) => results.push(result) });
      const last = new Map<string, number>();
      let atMs = 0;
      for (const { client, isDenied, afterMs } of stream) {
        atMs += afterMs;
        const untilMs = last.get(client);
        const result = isDenied ? watch.denied(client, told(atMs)) : watch.called(client, atMs);
        if (result !== undefined) expect(result).toBe(untilMs !== undefined && atMs < untilMs - 20 ? 'early' : isDenied ? 'denied_again' : 'passed');
        if (isDenied) last.set(client, atMs + 1_000);
        else last.delete(client);
        expect(watch.size).toBeLessThanOrEqual(3);
      }
      expect(Object.values(watch.totals).reduce((sum, count) => sum + count, 0)).toBe(results.length);
    }));
  });
});
