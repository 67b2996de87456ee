import * as testing from '@quotaplane/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { retryKey } from './counter-key';
import { describeOnEveryStore } from './rig/every-store';
import { DAY_START_MS, KINDS, MINUTE_MS, quotaOf, rateOf, stateOf, windowOf } from './rig/rates';
import type { Charge, RetryCharge } from './store';

const WINDOW_MS = 1_000;

describeOnEveryStore('cases of steady callers, lowered amounts and equal ids', testing, (place) => {
  // Mutation: renew the window's life and keep its count, so that a steady caller is never let go.
  it.each(['epoch', 'first-hit'] as const)('C009 gives a steady caller near each expiry a window that starts at 1: %s', async (alignment) => {
    const five = windowOf('five', 5, WINDOW_MS, alignment);
    for (const phaseMs of [0, 1, 5, WINDOW_MS - 5, WINDOW_MS - 1]) {
      // A pause of two windows between two phases.
      const fromMs = DAY_START_MS + phaseMs * 1_000_000;
      for (let second = 0; second < 60; second += 1) {
        place().clock.set(fromMs + phaseMs + second * WINDOW_MS);
        expect(await place().judge([five])).toMatchObject({ status: 'allowed', states: [{ remaining: 4 }] });
      }
    }
  });

  // Mutation: as above; or end a first-hit window a ms late.
  it.each(['epoch', 'first-hit'] as const)('C009 never denies a steady caller, however it jitters around each expiry: %s', async (alignment) => {
    let fromMs = DAY_START_MS;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: -5, max: 5 }), { minLength: 2, maxLength: 30 }), async (jitters) => {
        fromMs += MINUTE_MS;
        for (const [second, jitterMs] of jitters.entries()) {
          place().clock.set(fromMs + second * WINDOW_MS + jitterMs);
          // Two calls may meet in one window, three never do.
          const { remaining } = stateOf(await place().judge([windowOf('jitter', 2, WINDOW_MS, alignment)]));
          expect(remaining).toBeGreaterThanOrEqual(0);
          expect(stateOf(await place().peek([windowOf('jitter', 2, WINDOW_MS, alignment)])).retryAfterMs).toBe(0);
        }
      }),
      { numRuns: 15 },
    );
  });

  // Mutation: answer allowance - used without stopping at 0; or keep what was left under the older allowance.
  it('C050 leaves nothing of a quota that is lowered below what was used', async () => {
    await place().judge([{ ...quotaOf(5_000_000), cost: 35 }]);
    expect(await place().judge([quotaOf(10)])).toMatchObject({ status: 'denied', states: [{ remaining: 0, retryAfterMs: 30 * 86_400_000 }] });
    expect(stateOf(await place().peek([quotaOf(10)])).remaining).toBe(0);
    expect(stateOf(await place().peek([quotaOf(5_000_000)])).remaining).toBe(4_999_965);
  });

  // Mutation: as above, for any kind; or put the limit's value into the key.
  it('C050 C051 answers max(0, new - used) after any edit of a quota or of a limit of any algorithm', async () => {
    const most = fc.integer({ min: 1, max: 2_000 });
    let at = 0;
    await fc.assert(
      fc.asyncProperty(most, most, most, fc.constantFrom('quota' as const, ...KINDS), async (before, edited, wish, kind) => {
        const counter = `qp:{t}:c:edited-${at}`;
        at += 1;
        const used = Math.min(wish, before);
        const of = (limit: number, cost: number): Charge => (kind === 'quota' ? { ...quotaOf(limit), counter, base: `${counter}-base`, cost } : { ...rateOf(kind, limit), counter, cost });
        expect((await place().judge([of(before, used)])).status).toBe('allowed');
        const left = Math.max(0, edited - used);
        expect(stateOf(await place().peek([of(edited, 0)])).remaining).toBe(left);
        if (left > 0) expect(await place().judge([of(edited, left)])).toMatchObject({ status: 'allowed', states: [{ remaining: 0 }] });
        expect((await place().judge([of(edited, 1)])).status).toBe('denied');
        expect(stateOf(await place().peek([of(edited, 0)])).remaining).toBe(0);
      }),
      { numRuns: 60 },
    );
  });

  // Mutation: leave the tenant, or any other part, out of retryKey.
  it('C037 takes an id of one tenant, subject, method or route for no repeat of another one\'s', async () => {
    const rate = { ...rateOf('bucket', 1_000), windowMs: 86_400_000_000, cost: 10 };
    const left = async (): Promise<number> => stateOf(await place().peek([rate])).remaining;
    const retryOf = (change: Partial<Parameters<typeof retryKey>[0]>): RetryCharge => {
      // The counters of a check are of one tenant; the tag stays, the rest of the key is what retryKey made of the other tenant.
      const key = retryKey({ tenant: 't', subject: 'key:1', method: 'POST', route: '/orders', key: 'event-1', ...change });
      return { kind: 'retry', counter: `qp:{t}:i:${key}`, windowMs: MINUTE_MS, max: 3, repeatCost: 0, cost: 0 };
    };
    const changes = [{}, { tenant: 'other' }, { subject: 'key:2' }, { method: 'PUT' }, { route: '/exports' }, { key: 'event-2' }];
    for (const [at, change] of changes.entries()) {
      await place().judge([retryOf(change), rate]);
      expect(await left()).toBe(1_000 - 10 * (at + 1));
    }
    for (const change of changes) await place().judge([retryOf(change), rate]);
    expect(await left()).toBe(1_000 - 10 * changes.length);
  });
});

// Mutation: join the parts of an id without telling where each ends.
it('C037 gives different ids different keys, whatever their parts contain', () => {
  // Few parts, so that what would meet when it is joined does meet.
  const text = fc.oneof({ weight: 3, arbitrary: fc.constantFrom('', 'a', ':a', 'a:', 'a:a', ':', '"', '","', '\ud800', '\udfff') }, fc.string({ maxLength: 6 }));
  const name = fc.record({ tenant: fc.constantFrom('a', 'b'), subject: text, method: fc.constantFrom('POST', 'PUT'), route: text, key: text });
  fc.assert(fc.property(name, name, (one, other) => {
    expect(retryKey(one) === retryKey(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
  }), { numRuns: 2_000 });
  const keyOf = (route: string, key: string): string => retryKey({ tenant: 't', subject: 'a', method: 'POST', route, key });
  fc.assert(fc.property(text, text, text, text, (route, key, otherRoute, otherKey) => {
    expect(keyOf(route, key) === keyOf(otherRoute, otherKey)).toBe(route === otherRoute && key === otherKey);
  }), { numRuns: 5_000 });
});
