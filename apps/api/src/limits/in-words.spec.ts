import type { PublicLimit } from '@quotaplane/contracts';
import { describe, expect, it } from 'vitest';
import { durationInWords, particulars, perWindow, whoIsCounted } from './in-words';

const limit: PublicLimit = { name: 'a', algorithm: 'token-bucket', scope: 'tenant', limit: 5, windowMs: 1000, window: '1 second', burst: 5, worstCaseUnits: 10 };

describe('words', () => {
  it.each([
    [0, '0 seconds'], [1, '1 millisecond'], [250, '250 milliseconds'], [1000, '1 second'], [60_000, '1 minute'], [900_000, '15 minutes'],
    [5_400_000, '1 hour 30 minutes'], [86_400_000, '1 day'], [90_061_001, '1 day 1 hour 1 minute 1 second 1 millisecond'],
  ])('tell %i ms as %s, losing nothing', (ms, words) => {
    expect(durationInWords(ms)).toBe(words);
  });

  it('say per minute, not per 1 minute, and keep longer windows whole', () => {
    expect(['1 minute', '15 minutes', '1 hour 30 minutes'].map(perWindow)).toEqual(['minute', '15 minutes', '1 hour 30 minutes']);
  });

  it('name addresses where callers have no account in common', () => {
    expect([whoIsCounted('tenant', 'anonymous'), whoIsCounted('tenant', 'accounts'), whoIsCounted('subject:account', 'accounts')])
      .toEqual(['each address', 'your account as a whole', 'each account that a call names']);
  });

  it('tell what narrows a limit, how it queues and what a penalty does', () => {
    const special: PublicLimit = {
      ...limit, algorithm: 'leaky-bucket', endpointClass: 'search', methods: ['POST', 'PUT'], perRoute: true, maxQueue: 1, maxWaitMs: 2000,
      penalty: { strikes: 10, withinMs: 60_000, banMs: 60_000, factor: 2, maxBanMs: 3_600_000, forgiveAfterMs: 86_400_000 },
    };
    expect(particulars(special)).toEqual([
      'Only calls of the class search count.', 'Only POST and PUT count.', 'Each route has a count of its own.',
      'Up to 1 unit waits its turn, 2 seconds at most; the rest is refused.',
      '10 denials within 1 minute ban the caller for 1 minute, each further ban 2 times as long, up to 1 hour; 1 day without a ban and it is forgotten.',
    ]);
    expect(particulars({ ...limit, algorithm: 'fixed-window', alignment: 'first-hit' })).toEqual(['The window opens with your first call.']);
    expect(particulars(limit)).toEqual([]);
  });
});
