import { figure, SEED } from '@quotaplane/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { periodOfId, periodsOf, type Calendar, type TenantPeriod } from './calendar';
import { calendarChangeOf, changedCalendars } from './calendar-change';

const RUNS = figure(150, 10_000);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
// The farthest apart (26 h), clock changes at midnight, of two hours and of half an hour, and offsets of odd minutes.
const ZONES = [
  'UTC', 'Etc/GMT+12', 'Pacific/Kiritimati', 'Pacific/Auckland', 'Pacific/Chatham', 'Pacific/Pago_Pago', 'America/New_York', 'America/Havana', 'America/Asuncion',
  'Asia/Beirut', 'Asia/Kathmandu', 'Africa/Cairo', 'Africa/Casablanca', 'Antarctica/Troll', 'Atlantic/Azores', 'Australia/Lord_Howe', 'Europe/Berlin',
];
const NEW_YORK = { timezone: 'America/New_York', anchorDay: 1 };
const AUCKLAND = { timezone: 'Pacific/Auckland', anchorDay: 1 };
const since = (calendar: { timezone: string; anchorDay: number }): Calendar[] => [{ ...calendar, fromMs: null }];
const NOW_MS = Date.UTC(2026, 10, 20);
const at = (calendars: readonly Calendar[], nowMs: number): TenantPeriod => periodsOf({ calendars, nowMs, before: 0, after: 0 })[0] as TenantPeriod;

describe('a changed calendar', () => {
  it('holds from the end of the running period on, which starts a transition up to the first boundary of its own', () => {
    const calendars = changedCalendars(since(NEW_YORK), { timezone: 'Europe/Berlin', anchorDay: 15 }, NOW_MS);
    expect(calendars).toEqual([{ ...NEW_YORK, fromMs: null }, { timezone: 'Europe/Berlin', anchorDay: 15, fromMs: Date.UTC(2026, 11, 1, 5) }]);
    const periods = periodsOf({ calendars, nowMs: NOW_MS, before: 1, after: 2 });
    expect(periods).toEqual([
      { id: '2026-10-01', startMs: Date.UTC(2026, 9, 1, 4), endMs: Date.UTC(2026, 10, 1, 4), timezone: 'America/New_York', isTransition: false },
      { id: '2026-11-01', startMs: Date.UTC(2026, 10, 1, 4), endMs: Date.UTC(2026, 11, 1, 5), timezone: 'America/New_York', isTransition: false },
      { id: '2026-12-01', startMs: Date.UTC(2026, 11, 1, 5), endMs: Date.UTC(2026, 11, 14, 23), timezone: 'Europe/Berlin', isTransition: true },
      { id: '2026-12-15', startMs: Date.UTC(2026, 11, 14, 23), endMs: Date.UTC(2027, 0, 14, 23), timezone: 'Europe/Berlin', isTransition: false },
    ]);
    for (const period of periods) expect(periodOfId({ calendars, id: period.id })).toEqual(period);
    expect(['2026-12-02', '2026-02-30', '2026-13-01', '26-11-01', ''].map((id) => periodOfId({ calendars, id }))).toEqual(Array(5).fill(undefined));
  });

  // Mutation: count the boundary that lies within 26 h.
  it('makes no period of some hours where only the zone changes', () => {
    const west = changedCalendars(since(AUCKLAND), NEW_YORK, NOW_MS);
    // The first of December comes to New York 18 h after Auckland.
    expect(periodsOf({ calendars: west, nowMs: Date.UTC(2026, 11, 1), before: 0, after: 1 })).toMatchObject([
      { id: '2026-11-30', startMs: Date.UTC(2026, 10, 30, 11), endMs: Date.UTC(2027, 0, 1, 5), isTransition: true },
      { id: '2027-01-01', isTransition: false },
    ]);
  });

  // Mutation: let a transition keep an id that is taken.
  it('gives a transition the day after when its date is the id of the transition before', () => {
    const first = changedCalendars(since({ timezone: 'Etc/GMT+12', anchorDay: 1 }), { timezone: 'Pacific/Kiritimati', anchorDay: 4 }, NOW_MS);
    const second = changedCalendars(first, { timezone: 'Etc/GMT+12', anchorDay: 20 }, Date.UTC(2026, 11, 2));
    // Starts at 02:00 of the second in Kiritimati, ends at midnight of the fourth there, when it is 22:00 of the second twelve hours west of UTC.
    const periods = periodsOf({ calendars: second, nowMs: Date.UTC(2026, 11, 2), before: 1, after: 2 });
    expect(periods.map(({ id }) => id)).toEqual(['2026-11-01', '2026-12-02', '2026-12-03', '2026-12-20']);
    expect(periods[2]).toMatchObject({ startMs: Date.UTC(2026, 11, 3, 10), isTransition: true });
    for (const period of periods) expect(periodOfId({ calendars: second, id: period.id })).toEqual(period);
  });

  // Mutation: append a second change to the first; keep a pending one when what is in force is set.
  it('is replaced by a second change before it holds, and taken back by setting what is in force', () => {
    const pending = changedCalendars(since(NEW_YORK), AUCKLAND, NOW_MS);
    const replaced = changedCalendars(pending, { ...NEW_YORK, anchorDay: 9 }, NOW_MS + DAY_MS);
    expect(replaced).toEqual([{ ...NEW_YORK, fromMs: null }, { ...NEW_YORK, anchorDay: 9, fromMs: Date.UTC(2026, 11, 1, 5) }]);
    expect(changedCalendars(replaced, NEW_YORK, NOW_MS + 2 * DAY_MS)).toEqual(since(NEW_YORK));
    expect(changedCalendars(since(NEW_YORK), NEW_YORK, NOW_MS)).toEqual(since(NEW_YORK));
  });

  it('is shown while it is to come and while its transition runs', () => {
    const calendars = changedCalendars(since(NEW_YORK), { timezone: 'Europe/Berlin', anchorDay: 15 }, NOW_MS);
    const effectiveAtMs = Date.UTC(2026, 11, 1, 5);
    const transition = at(calendars, effectiveAtMs);
    const change = { effectiveAtMs, from: NEW_YORK, transition };
    expect(calendarChangeOf(since(NEW_YORK), NOW_MS)).toBeNull();
    for (const nowMs of [NOW_MS, effectiveAtMs, transition.endMs - 1]) expect(calendarChangeOf(calendars, nowMs)).toEqual(change);
    expect(calendarChangeOf(calendars, transition.endMs)).toBeNull();
    // A change that is made while the transition runs is the news.
    const again = changedCalendars(calendars, AUCKLAND, effectiveAtMs + HOUR_MS);
    expect(calendarChangeOf(again, effectiveAtMs + HOUR_MS)).toMatchObject({ effectiveAtMs: transition.endMs, from: { timezone: 'Europe/Berlin', anchorDay: 15 } });
  });

  it('is kept in order where the rules of a zone were amended after it was written', () => {
    // Written for a midnight of 08:00 UTC, which by the rules of now comes at 07:00.
    const calendars: Calendar[] = [{ timezone: 'Etc/GMT+7', anchorDay: 1, fromMs: null }, { timezone: 'UTC', anchorDay: 1, fromMs: Date.UTC(2026, 11, 1, 8) }];
    expect(periodsOf({ calendars, nowMs: Date.UTC(2026, 11, 1, 7, 30), before: 0, after: 1 })).toMatchObject([
      { id: '2026-11-01', endMs: Date.UTC(2026, 11, 1, 8) }, { id: '2026-12-01', startMs: Date.UTC(2026, 11, 1, 8) },
    ]);
  });

  const calendar = fc.record({ timezone: fc.constantFrom(...ZONES), anchorDay: fc.integer({ min: 1, max: 31 }) });
  const changes = fc.array(fc.tuple(calendar, fc.oneof(fc.integer({ min: 0, max: 3 * DAY_MS }), fc.integer({ min: 0, max: 70 * DAY_MS }))), { maxLength: 8 });

  // Mutation: let a change hold at once; drop the calendars before the pending one; count 24 h in place of 26.
  it(`never touches the running period or one before it, and leaves no gap, no overlap, no id twice and no odd length: ${RUNS} histories (seed ${SEED})`, () => {
    fc.assert(
      fc.property(calendar, changes, fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2040, 0, 1) }), (first, later, startMs) => {
        let calendars = since(first);
        let nowMs = startMs;
        for (const [wanted, pauseMs] of later) {
          nowMs += pauseMs;
          const changed = changedCalendars(calendars, wanted, nowMs);
          const upToNow = { nowMs, before: 6, after: 0 };
          expect(periodsOf({ calendars: changed, ...upToNow })).toEqual(periodsOf({ calendars, ...upToNow }));
          expect(at(changed, at(changed, nowMs).endMs + 32 * DAY_MS).timezone).toBe(wanted.timezone);
          calendars = changed;
        }
        const periods = periodsOf({ calendars, nowMs, before: 12, after: 4 });
        expect(periods).toHaveLength(17);
        expect(at(calendars, nowMs)).toEqual(periods[12]);
        periods.forEach((period, index) => {
          expect(period.endMs - period.startMs).toBeGreaterThanOrEqual(26 * HOUR_MS);
          expect(period.endMs - period.startMs).toBeLessThanOrEqual(33 * DAY_MS);
          expect(periodOfId({ calendars, id: period.id })).toEqual(period);
          const next = periods[index + 1];
          if (!next) return;
          expect(next.startMs).toBe(period.endMs);
          expect(next.id > period.id).toBe(true);
        });
      }),
      { numRuns: RUNS, seed: SEED },
    );
  }, figure(60_000, 3_600_000));
});
