import type { CompiledPeriod } from '@quotaplane/contracts';
import { Temporal } from 'temporal-polyfill';

/** Whether `timezone` is an IANA zone this machine knows. */
export const isTimeZone = (timezone: string): boolean => {
  try {
    Temporal.Now.zonedDateTimeISO(timezone);
    // Offsets such as "+02:00" are accepted by Temporal, but have no DST and no place in a contract.
    return !/^[+-]/.test(timezone);
  } catch {
    return false;
  }
};

/**
 * First day of the period of a month: the anchor day, clipped to the month's end. Clipping starts from the anchor each time, so that
 * the 31st comes back after a short month (C052).
 */
const startDate = (month: Temporal.PlainYearMonth, anchorDay: number): Temporal.PlainDate =>
  month.toPlainDate({ day: Math.min(anchorDay, month.daysInMonth) });

// Where midnight does not exist (DST at 00:00) the day starts at its first instant; where it repeats, at the first of the two.
const startMs = (date: Temporal.PlainDate, timezone: string): number => date.toZonedDateTime(timezone).epochMilliseconds;

export interface PeriodsRequest {
  /** IANA zone name. */
  readonly timezone: string;
  /** 1-31. */
  readonly anchorDay: number;
  readonly nowMs: number;
  /** Periods wanted before and after the one around `nowMs`. */
  readonly before: number;
  readonly after: number;
}

/**
 * Contiguous billing periods around an instant, ends exclusive; id = local start date.
 * @throws {RangeError} the zone is not an IANA zone
 * @see docs/adr/0002-timeline.md; semantics: period
 */
export const periodsAround = ({ timezone, anchorDay, nowMs, before, after }: PeriodsRequest): CompiledPeriod[] => {
  const today = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(timezone).toPlainDate();
  const month = today.toPlainYearMonth();
  const current = Temporal.PlainDate.compare(startDate(month, anchorDay), today) <= 0 ? month : month.subtract({ months: 1 });
  const starts = Array.from({ length: before + after + 2 }, (_, index) => startDate(current.add({ months: index - before }), anchorDay));
  return starts.slice(0, -1).map((date, index) => ({
    id: date.toString(),
    startMs: startMs(date, timezone),
    endMs: startMs(starts[index + 1] ?? date, timezone),
  }));
};

/** The one period around an instant. */
export const periodAt = (request: Omit<PeriodsRequest, 'before' | 'after'>): CompiledPeriod => {
  const [period] = periodsAround({ ...request, before: 0, after: 0 });
  if (!period) throw new RangeError(`no period at ${request.nowMs} in ${request.timezone}`);
  return period;
};
