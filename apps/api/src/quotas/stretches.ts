import type { CompiledPeriod } from '@quotaplane/contracts';
import { periodsOf, type Calendar } from '@quotaplane/usage';

/** A part of a period: what one count of usage runs over. `[startMs, endMs)`. */
export interface Stretch {
  readonly period: CompiledPeriod;
  readonly part: number;
  readonly startMs: number;
  readonly endMs: number;
}

/** A tier change, as far as it may cut a period in two. */
export interface Restart {
  readonly usage?: string;
  readonly effectiveAt: Date;
}

/** Longest that work is looked for in the past, in periods. */
const PERIODS_BACK = 60;

/** Parts of contiguous periods, in order: a tier change with `restart` inside a period begins a new one. */
export const stretchesOf = (restarts: readonly Restart[], periods: readonly CompiledPeriod[]): Stretch[] => {
  const cuts = restarts.filter(({ usage }) => usage === 'restart').map(({ effectiveAt }) => effectiveAt.getTime()).sort((a, b) => a - b);
  return periods.flatMap((period) => {
    const inside = cuts.filter((atMs) => atMs > period.startMs && atMs < period.endMs);
    return [period.startMs, ...inside].map((startMs, index) => ({ period, part: index + 1, startMs, endMs: inside[index] ?? period.endMs }));
  });
};

/** Periods from the one around `sinceMs` up to `untilMs`, which is a boundary; at most five years of them. */
export const periodsBetween = (calendars: readonly Calendar[], sinceMs: number, untilMs: number): CompiledPeriod[] => {
  const periods: CompiledPeriod[] = [];
  for (let beforeMs = untilMs; beforeMs > sinceMs && periods.length < PERIODS_BACK;) {
    const [period] = periodsOf({ calendars, nowMs: beforeMs - 1, before: 0, after: 0 });
    if (!period) break;
    periods.unshift(period);
    beforeMs = period.startMs;
  }
  return periods;
};
