import { describe, expect, it } from 'vitest';
import { formatInstant, formatRelative, formatSpan, formatUtc, fromLocalInput, lastInstant, toLocalInput } from './time';

describe('formatInstant', () => {
  it('shows the tenant’s zone, not the operator’s', () => {
    expect(formatInstant('2026-11-14T23:30:00Z', 'Asia/Tokyo')).toBe('15 Nov 2026, 08:30 GMT+9');
  });

  it('names the zone, which changes with the season', () => {
    expect(formatInstant('2026-11-14T12:00:00Z', 'Europe/Berlin')).toBe('14 Nov 2026, 13:00 CET');
    expect(formatInstant('2026-07-14T12:00:00Z', 'Europe/Berlin')).toBe('14 Jul 2026, 14:00 CEST');
    expect(formatInstant('2026-07-14T12:00:00Z', 'UTC')).toBe('14 Jul 2026, 12:00 UTC');
  });
});

describe('fromLocalInput', () => {
  it.each([
    ['Europe/Berlin', '2026-11-14T09:30', '2026-11-14T08:30:00.000Z'],
    ['America/New_York', '2026-07-01T00:00', '2026-07-01T04:00:00.000Z'],
    ['Asia/Kathmandu', '2026-01-01T05:45', '2026-01-01T00:00:00.000Z'],
    ['UTC', '2026-11-14T09:30:15', '2026-11-14T09:30:15.000Z'],
  ])('reads a wall clock in %s', (zone, local, instant) => {
    expect(fromLocalInput(local, zone)).toBe(instant);
  });

  it('takes the instant just after a time that the clock jumps over', () => {
    expect(fromLocalInput('2026-03-29T02:30', 'Europe/Berlin')).toBe('2026-03-29T01:30:00.000Z');
  });

  it('takes the first of two instants that read the same', () => {
    expect(fromLocalInput('2026-10-25T02:30', 'Europe/Berlin')).toBe('2026-10-25T00:30:00.000Z');
  });

  it('refuses what is no local time', () => {
    expect(fromLocalInput('', 'UTC')).toBeUndefined();
    expect(fromLocalInput('2026-13-01T00:00', 'UTC')).toBeUndefined();
  });

  it('is the way back from toLocalInput', () => {
    expect(fromLocalInput(toLocalInput('2026-11-14T08:30:00Z', 'Pacific/Auckland'), 'Pacific/Auckland')).toBe('2026-11-14T08:30:00.000Z');
  });
});

describe('spans', () => {
  it.each([
    [0, '0 s'],
    [45_000, '45 s'],
    [90_000, '1 min 30 s'],
    [3_600_000, '1 h'],
    [11_520_000, '3 h 12 min'],
    [90_000_000, '1 d 1 h'],
  ] as const)('shows %s ms as %s', (spanMs, shown) => {
    expect(formatSpan(spanMs)).toBe(shown);
  });

  it('says before and after', () => {
    expect(formatRelative(10_000, 70_000)).toBe('1 min ago');
    expect(formatRelative(70_000, 10_000)).toBe('in 1 min');
    expect(formatRelative(500, 0)).toBe('now');
  });
});

it('keeps exact UTC for hover', () => {
  expect(formatUtc('2026-11-14T08:30:12.345Z')).toBe('2026-11-14 08:30:12 UTC');
});

it('ends a period on the day before the next begins', () => {
  expect(new Date(lastInstant('2026-12-01T00:00:00Z')).toISOString()).toBe('2026-11-30T23:59:59.999Z');
});
