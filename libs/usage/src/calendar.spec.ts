import { describe, expect, it } from 'vitest';
import { periodOfId, periodsOf, type Calendar } from './calendar';

const QUARTER_MS = 15 * 60_000;
const HOUR_MS = 4 * QUARTER_MS;
const idAt = (calendars: readonly Calendar[], nowMs: number): string | undefined => periodsOf({ calendars, nowMs, before: 0, after: 0 })[0]?.id;
/** Ids in the order in which a job sees them that looks every so often. */
const idsSeen = (calendars: readonly Calendar[], fromMs: number, untilMs: number, everyMs: number): (string | undefined)[] => {
  const seen: (string | undefined)[] = [];
  for (let nowMs = fromMs; nowMs <= untilMs; nowMs += everyMs) {
    const id = idAt(calendars, nowMs);
    if (id !== seen.at(-1)) seen.push(id);
  }
  return seen;
};

/** Clock changes at or about midnight: the zone, the date that begins, its first instant, what the clock does there. */
const MIDNIGHTS = [
  ['America/Havana', '2026-03-08', '2026-03-08T05:00Z', '00:00 is missing'],
  ['America/Havana', '2026-11-01', '2026-11-01T04:00Z', '00:00-00:59 repeats'],
  ['Asia/Beirut', '2026-03-29', '2026-03-28T22:00Z', '00:00 is missing'],
  ['Asia/Beirut', '2026-10-25', '2026-10-24T22:00Z', 'at 24:00 the clock goes back to 23:00'],
  ['America/Asuncion', '2024-03-24', '2024-03-24T04:00Z', 'at 24:00 the clock goes back to 23:00'],
  ['America/Asuncion', '2024-10-06', '2024-10-06T04:00Z', '00:00 is missing, for the last time'],
  ['America/Asuncion', '2026-10-04', '2026-10-04T03:00Z', 'no clock change any more'],
  ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00Z', '00:00 is missing'],
  ['Africa/Cairo', '2026-10-30', '2026-10-29T22:00Z', 'at 24:00 the clock goes back to 23:00'],
  ['Atlantic/Azores', '2026-03-29', '2026-03-29T01:00Z', '00:00 is missing'],
  ['Atlantic/Azores', '2026-10-25', '2026-10-25T00:00Z', '00:00-00:59 repeats'],
  ['America/Santiago', '2026-09-06', '2026-09-06T04:00Z', '00:00 is missing'],
  ['America/Santiago', '2026-04-05', '2026-04-05T04:00Z', 'at 24:00 the clock goes back to 23:00'],
  ['America/New_York', '2026-11-01', '2026-11-01T04:00Z', '01:00-01:59 repeats'],
  ['America/New_York', '2026-03-08', '2026-03-08T05:00Z', '02:00-02:59 is missing'],
] as const;

describe('periodsOf', () => {
  // Mutation: take the later of two midnights; take the missing midnight for an hour before or after it.
  it.each(MIDNIGHTS)('C053 begins a period in %s on %s once, at %s: %s', (timezone, id, instant) => {
    const calendars = [{ timezone, anchorDay: Number(id.slice(-2)), fromMs: null }];
    const startMs = Date.parse(instant);
    expect(periodOfId({ calendars, id })).toMatchObject({ id, startMs });
    expect(idsSeen(calendars, startMs - 36 * HOUR_MS, startMs + 36 * HOUR_MS, QUARTER_MS)).toEqual([idAt(calendars, startMs - 1), id]);
  });

  // Mutation: compute today's date in UTC, or in the zone of the machine.
  it('C054 rolls a Pacific/Auckland tenant once, whatever hour the job runs at in the 48 h around a month end', () => {
    const calendars = [{ timezone: 'Pacific/Auckland', anchorDay: 1, fromMs: null }];
    const rollMs = Date.UTC(2026, 10, 30, 11);
    expect(idsSeen(calendars, rollMs - 24 * HOUR_MS, rollMs + 24 * HOUR_MS, HOUR_MS)).toEqual(['2026-11-01', '2026-12-01']);
    expect([idAt(calendars, rollMs - 1), idAt(calendars, rollMs)]).toEqual(['2026-11-01', '2026-12-01']);
    // Also while its calendar changes to one in which that month end comes 18 h later.
    const moving = [...calendars, { timezone: 'America/New_York', anchorDay: 1, fromMs: rollMs }];
    expect(idsSeen(moving, rollMs - 24 * HOUR_MS, rollMs + 24 * HOUR_MS, HOUR_MS)).toEqual(['2026-11-01', '2026-11-30']);
  });

  it('follows a single calendar since ever, and refuses a timeline without any', () => {
    const calendars = [{ timezone: 'Asia/Kathmandu', anchorDay: 31, fromMs: null }];
    expect(periodsOf({ calendars, nowMs: Date.UTC(2024, 1, 10), before: 1, after: 1 }).map(({ id, timezone, isTransition }) => [id, timezone, isTransition])).toEqual([
      ['2023-12-31', 'Asia/Kathmandu', false], ['2024-01-31', 'Asia/Kathmandu', false], ['2024-02-29', 'Asia/Kathmandu', false],
    ]);
    expect(() => periodsOf({ calendars: [], nowMs: 0, before: 0, after: 0 })).toThrow(RangeError);
  });
});
