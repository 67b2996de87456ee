import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isTimeZone, periodAt, periodsAround } from './periods';

const ZONES = ['UTC', 'America/New_York', 'Pacific/Auckland', 'Asia/Kathmandu', 'America/Sao_Paulo', 'Europe/Berlin', 'Pacific/Apia', 'Asia/Beirut', 'America/Havana'];
const YEAR_2020 = Date.UTC(2020, 0, 1);
const YEAR_2040 = Date.UTC(2040, 0, 1);

/** Independent oracle: what the wall clock of a zone reads at an instant, by Intl. */
const wallClock = (ms: number, timeZone: string): { date: string; time: string } => {
  const parts = new Intl.DateTimeFormat('en-CA', {
    timeZone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit',
  }).formatToParts(ms);
  const of = (type: string): string => parts.find((part) => part.type === type)?.value ?? '';
  return { date: `${of('year')}-${of('month')}-${of('day')}`, time: `${of('hour')}:${of('minute')}:${of('second')}` };
};

const clippedDay = (year: number, month: number, anchorDay: number): number => Math.min(anchorDay, new Date(Date.UTC(year, month, 0)).getUTCDate());

describe('periodsAround', () => {
  // Mutation: clip from the previous period's day instead of the anchor.
  it('C052 clips the 30th to short months without drifting', () => {
    const ids = periodsAround({ timezone: 'UTC', anchorDay: 30, nowMs: Date.UTC(2024, 0, 30), before: 0, after: 3 }).map((period) => period.id);
    expect(ids).toEqual(['2024-01-30', '2024-02-29', '2024-03-30', '2024-04-30']);
  });

  it('starts at local midnight, or at the first instant of a day whose midnight does not exist', () => {
    const [period] = periodsAround({ timezone: 'Pacific/Auckland', anchorDay: 1, nowMs: Date.UTC(2026, 11, 1), before: 0, after: 0 });
    expect(period).toMatchObject({ id: '2026-12-01', startMs: Date.UTC(2026, 10, 30, 11), endMs: Date.UTC(2026, 11, 31, 11) });
    // Sao Paulo skipped 00:00 on 2018-11-04.
    expect(periodAt({ timezone: 'America/Sao_Paulo', anchorDay: 4, nowMs: Date.UTC(2018, 10, 10) }).startMs).toBe(Date.UTC(2018, 10, 4, 3));
  });

  it('is contiguous, contains now and starts on the clipped anchor day at midnight of the zone, for any zone, anchor and instant', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ZONES), fc.integer({ min: 1, max: 31 }), fc.integer({ min: YEAR_2020, max: YEAR_2040 }), (timezone, anchorDay, nowMs) => {
        const periods = periodsAround({ timezone, anchorDay, nowMs, before: 1, after: 13 });
        expect(periods).toHaveLength(15);
        periods.slice(1).forEach((period, index) => expect(period.startMs).toBe(periods[index]?.endMs));
        const current = periods[1];
        if (!current) throw new Error('no current period');
        expect(current.startMs <= nowMs && nowMs < current.endMs).toBe(true);
        for (const { id, startMs } of periods) {
          const [year = 0, month = 0, day = 0] = id.split('-').map(Number);
          expect(day).toBe(clippedDay(year, month, anchorDay));
          expect(wallClock(startMs, timezone).date).toBe(id);
          expect(wallClock(startMs - 1, timezone).date).not.toBe(id);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('knows IANA zones and refuses offsets and nonsense', () => {
    expect(['Europe/Paris', 'UTC'].every(isTimeZone)).toBe(true);
    expect(['+02:00', 'Mars/Olympus', ''].some(isTimeZone)).toBe(false);
  });
});
