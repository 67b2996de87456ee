import { DELIVERY_WAITS_S } from '@quotaplane/contracts';
import { describe, expect, it } from 'vitest';
import { retryAfterMsOf, waitAfter } from './retry-schedule';

const HOUR_MS = 3_600_000;

describe('the schedule of a delivery', () => {
  it('waits as published, and is over after the last wait', () => {
    const waits = Array.from({ length: DELIVERY_WAITS_S.length }, (_, index) => waitAfter(index + 1, undefined, () => 0.5));
    expect(waits).toEqual([5_000, 30_000, 120_000, 900_000, HOUR_MS, 4 * HOUR_MS, 12 * HOUR_MS, 24 * HOUR_MS, undefined]);
  });

  it('is up to a tenth shorter or longer', () => {
    expect([waitAfter(1, undefined, () => 0), waitAfter(1, undefined, () => 0.5), waitAfter(1, undefined, () => 0.999_999)]).toEqual([4_500, 5_000, 5_500]);
  });

  // Mutation: take Retry-After instead of the longer of both, or without its cap.
  it('honours Retry-After where it is longer, up to 24 h, and never past the end of the schedule', () => {
    expect(waitAfter(1, 60_000, () => 0.5)).toBe(60_000);
    expect(waitAfter(3, 1_000, () => 0.5)).toBe(120_000);
    expect(waitAfter(1, 400 * HOUR_MS, () => 0.5)).toBe(24 * HOUR_MS);
    expect(waitAfter(DELIVERY_WAITS_S.length, 60_000, () => 0.5)).toBeUndefined();
  });

  it('reads Retry-After in seconds and as a date, and nothing else', () => {
    const nowMs = Date.UTC(2026, 10, 30, 12);
    expect(retryAfterMsOf('120', nowMs)).toBe(120_000);
    expect(retryAfterMsOf('Mon, 30 Nov 2026 12:01:00 GMT', nowMs)).toBe(60_000);
    expect(retryAfterMsOf('Mon, 30 Nov 2026 11:00:00 GMT', nowMs)).toBe(0);
    expect([retryAfterMsOf('soon', nowMs), retryAfterMsOf('', nowMs), retryAfterMsOf(undefined, nowMs)]).toEqual([undefined, undefined, undefined]);
  });
});
