import type { CompiledPeriod } from '@quotaplane/contracts';
import { Temporal } from 'temporal-polyfill';
import { periodAt } from './periods';

/** How a tenant's months are cut, from an instant on. A timeline of them is sorted by `fromMs`; the first is in force since ever. */
export interface Calendar {
  /** IANA zone name. */
  readonly timezone: string;
  /** 1-31. */
  readonly anchorDay: number;
  /** Epoch ms, always the end of a period of the calendar before; null = since ever. */
  readonly fromMs: number | null;
}

/** A billing period with the zone that its local dates are in. */
export interface TenantPeriod extends CompiledPeriod {
  readonly timezone: string;
  /** It is the first of a changed calendar, and so may be of any length from 26 h to 33 days. */
  readonly isTransition: boolean;
}

/** Two zones can be 26 hours apart: a zone change alone must not make a period of a few hours. */
const SHORTEST_MS = 26 * 3_600_000;

/** Where the calendar at `index` begins and ends to hold; the first holds since ever, the last for ever. */
const reignOf = (calendars: readonly Calendar[], index: number): { readonly fromMs: number; readonly untilMs: number } => ({
  fromMs: index === 0 ? -Infinity : (calendars[index]?.fromMs ?? -Infinity),
  untilMs: calendars[index + 1]?.fromMs ?? Infinity,
});

/** Position in the timeline of the calendar in force at an instant. */
export const calendarIndexAt = (calendars: readonly Calendar[], atMs: number): number =>
  Math.max(0, calendars.findLastIndex(({ fromMs }) => fromMs === null || fromMs <= atMs));

const localDate = (atMs: number, timezone: string): Temporal.PlainDate =>
  Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(timezone).toPlainDate();

/**
 * Id of a transition: the local date of its start. It starts at midnight of the *former* zone, so after a long way west right after
 * another transition that date may be taken already; then the day after.
 */
const transitionId = (calendars: readonly Calendar[], startMs: number, timezone: string): string => {
  const date = localDate(startMs, timezone);
  const dayAfterFormer = Temporal.PlainDate.from(periodIn(calendars, startMs - 1).id).add({ days: 1 });
  return (Temporal.PlainDate.compare(date, dayAfterFormer) < 0 ? dayAfterFormer : date).toString();
};

/**
 * The period around an instant.
 * @throws {RangeError} the timeline is empty or a zone is not an IANA zone
 */
export const periodIn = (calendars: readonly Calendar[], atMs: number): TenantPeriod => {
  const index = calendarIndexAt(calendars, atMs);
  const calendar = calendars[index];
  if (!calendar) throw new RangeError('a timeline has at least one calendar');
  const { timezone, anchorDay } = calendar;
  const { fromMs, untilMs } = reignOf(calendars, index);
  // Boundaries nearer than that to a change are none. Before `untilMs` there are such only where the zone's rules were amended after the change was written.
  const [firstMs, lastMs] = [fromMs + SHORTEST_MS, untilMs - SHORTEST_MS];
  const around = periodAt({ timezone, anchorDay, nowMs: Math.min(Math.max(atMs, firstMs), lastMs) });
  const startMs = around.startMs > firstMs ? around.startMs : fromMs;
  const endMs = around.endMs <= lastMs ? around.endMs : untilMs;
  const isTransition = startMs === fromMs;
  return { id: isTransition ? transitionId(calendars, startMs, timezone) : around.id, startMs, endMs, timezone, isTransition };
};
