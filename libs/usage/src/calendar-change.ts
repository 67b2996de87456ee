import { calendarIndexAt, periodIn, type Calendar, type TenantPeriod } from './calendar-timeline';

/** A change of calendar that is to come, or whose transition runs. */
export interface CalendarChange {
  readonly effectiveAtMs: number;
  /** In force until then. */
  readonly from: Pick<Calendar, 'timezone' | 'anchorDay'>;
  /** First period of the new calendar, starting at `effectiveAtMs`. */
  readonly transition: TenantPeriod;
}

/**
 * What setting zone and anchor at `nowMs` makes of a timeline. The running period keeps its end, and the new calendar holds from there on. What was
 * still to come is replaced; setting what is in force takes it back.
 * @returns the timeline to keep, the given calendars in force and past included unchanged
 * @throws {RangeError} the timeline is empty or a zone in force is not an IANA zone
 */
export const changedCalendars = (
  calendars: readonly Calendar[], { timezone, anchorDay }: Pick<Calendar, 'timezone' | 'anchorDay'>, nowMs: number,
): Calendar[] => {
  const { endMs } = periodIn(calendars, nowMs);
  const kept = calendars.slice(0, calendarIndexAt(calendars, nowMs) + 1);
  const inForce = kept.at(-1);
  if (inForce?.timezone === timezone && inForce.anchorDay === anchorDay) return kept;
  return [...kept, { timezone, anchorDay, fromMs: endMs }];
};

/** The change that is pending, else the one whose transition runs; null when neither. */
export const calendarChangeOf = (calendars: readonly Calendar[], nowMs: number): CalendarChange | null => {
  const index = calendarIndexAt(calendars, nowMs);
  return changeTo(calendars, index + 1) ?? (periodIn(calendars, nowMs).isTransition ? changeTo(calendars, index) : null);
};

const changeTo = (calendars: readonly Calendar[], index: number): CalendarChange | null => {
  const [former, next] = [calendars[index - 1], calendars[index]];
  if (!former || next?.fromMs == null) return null;
  const { timezone, anchorDay } = former;
  return { effectiveAtMs: next.fromMs, from: { timezone, anchorDay }, transition: periodIn(calendars, next.fromMs) };
};
