import { periodIn, type Calendar, type TenantPeriod } from './calendar-timeline';
import { periodsAround } from './periods';

export type { Calendar, TenantPeriod } from './calendar-timeline';

/** No period starts later than this after 00:00 UTC of the date that is its id: at the end of that day, 12 h west of UTC. */
const ID_REACH_MS = 36 * 3_600_000;

export interface TenantPeriodsRequest {
  readonly calendars: readonly Calendar[];
  readonly nowMs: number;
  /** Periods wanted before and after the one around `nowMs`. */
  readonly before: number;
  readonly after: number;
}

/**
 * Contiguous billing periods around an instant, across every change of calendar; ends exclusive, ids rise with time.
 * @throws {RangeError} the timeline is empty or a zone is not an IANA zone
 * @see docs/adr/0002-timeline.md; semantics: period
 */
export const periodsOf = ({ calendars, nowMs, before, after }: TenantPeriodsRequest): TenantPeriod[] => {
  const [only, next] = calendars;
  if (only && !next) {
    return periodsAround({ ...only, nowMs, before, after }).map((period) => ({ ...period, timezone: only.timezone, isTransition: false }));
  }
  const periods = [periodIn(calendars, nowMs)];
  for (let back = 0, [first] = periods; first && back < before; back += 1) periods.unshift((first = periodIn(calendars, first.startMs - 1)));
  for (let ahead = 0, last = periods.at(-1); last && ahead < after; ahead += 1) periods.push((last = periodIn(calendars, last.endMs)));
  return periods;
};

/** The period with an id, however long ago or ahead; undefined where none starts on that date. */
export const periodOfId = ({ calendars, id }: { readonly calendars: readonly Calendar[]; readonly id: string }): TenantPeriod | undefined => {
  const midnightMs = Date.parse(`${id}T00:00:00Z`);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(id) || Number.isNaN(midnightMs)) return undefined;
  // Four periods of 26 h or more reach back past the earliest: 14 h east of UTC, on the day before where the id had to give way.
  return periodsOf({ calendars, nowMs: midnightMs + ID_REACH_MS, before: 3, after: 0 }).find((period) => period.id === id);
};
