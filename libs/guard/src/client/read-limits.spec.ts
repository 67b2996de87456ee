import { describe, expect, it } from 'vitest';
import { readLimits } from './read-limits';

const read = (headers: Record<string, string>) => readLimits({ headers: new Headers(headers) });

describe('readLimits', () => {
  it('joins policy and state by name, in ms', () => {
    expect(read({
      'RateLimit-Policy': '"per-minute";q=100;w=60;qp-burst=20, "month";q=1000000;w=2592000, "in-flight";q=50;qu="concurrent-requests"',
      RateLimit: '"per-minute";r=19;t=1;pk=:AAEC:;qp-cost=1, "month";r=999;t=86400;pk=:AwQF:;qp-cost=1, "in-flight";r=49;t=0;qp-cost=1',
      'RateLimit-Limit': '20', 'RateLimit-Remaining': '19', 'RateLimit-Reset': '3',
    })).toEqual({
      limits: [
        { name: 'per-minute', counts: 'units', limit: 100, burst: 20, windowMs: 60_000, remaining: 19, moreAfterMs: 1000, cost: 1, partition: 'AAEC' },
        { name: 'month', counts: 'units', limit: 1_000_000, burst: 1_000_000, windowMs: 2_592_000_000, remaining: 999, moreAfterMs: 86_400_000, cost: 1, partition: 'AwQF' },
        { name: 'in-flight', counts: 'concurrent-requests', limit: 50, burst: 50, remaining: 49, moreAfterMs: 0, cost: 1 },
      ],
      tightest: { limit: 20, remaining: 19, resetAfterMs: 3000 },
    });
  });

  it('says of a denial what denied it, how long to wait and that it was not exact', () => {
    expect(read({ 'RateLimit-Policy': '"a";q=5;w=1, "b";q=9;w=60', RateLimit: '"b";r=0;t=7;qp-cost=1', 'Retry-After': '7', 'RateLimit-Source': 'local' })).toMatchObject({
      limits: [{ name: 'a', limit: 5 }, { name: 'b', remaining: 0 }], retryAfterMs: 7000, source: 'local',
    });
  });

  it('leaves out what is missing or malformed', () => {
    expect(read({})).toEqual({ limits: [] });
    expect(read({ RateLimit: '"a";r=;t=1', 'RateLimit-Policy': 'q=', 'Retry-After': '-3', 'RateLimit-Limit': 'many' })).toEqual({ limits: [] });
    expect(read({ 'Retry-After': '1.5' })).toEqual({ limits: [] });
  });

  it('takes a date as well, by the clock of who sent it', () => {
    expect(read({ 'Retry-After': 'Fri, 27 Nov 2026 10:00:30 GMT', Date: 'Fri, 27 Nov 2026 10:00:00 GMT' }).retryAfterMs).toBe(30_000);
    expect(read({ 'Retry-After': 'Fri, 27 Nov 2026 09:00:00 GMT', Date: 'Fri, 27 Nov 2026 10:00:00 GMT' }).retryAfterMs).toBe(0);
  });
});
