import type { ReactNode } from 'react';
import { formatCount, formatRate, formatShort, formatWindow, type Units } from '../format/number';
import { formatClock, formatDay, formatInstant, formatRelative, formatUtc, OPERATOR_ZONE, type Instant } from '../format/time';
import { Tooltip } from './tooltip';
import { useNow } from './use-now';
import classes from './figures.module.css';

/** Units, short where long, exact on hover. */
export function Count({
  units,
  unit = 'units',
  isShort = false,
}: {
  readonly units: Units;
  readonly unit?: string;
  readonly isShort?: boolean;
}): ReactNode {
  const exact = units === null ? 'No limit' : `${formatCount(units)} ${unit}`;
  return (
    <Tooltip label={exact}>
      <span className={classes.figure}>{isShort ? formatShort(units) : formatCount(units)}</span>
    </Tooltip>
  );
}

/** A limit with its window, `6,000 per min`. */
export function Rate({ limit, windowMs }: { readonly limit: Units; readonly windowMs: number }): ReactNode {
  const exact = limit === null ? 'No limit' : `${formatCount(limit)} units in ${formatCount(windowMs)} ms (${formatWindow(windowMs)})`;
  return (
    <Tooltip label={exact}>
      <span className={classes.figure}>{formatRate(limit, windowMs)}</span>
    </Tooltip>
  );
}

interface TimeProps {
  readonly at: Instant;
  /** The tenant's zone; the operator's own where no tenant is meant. */
  readonly zone?: string;
  readonly as?: 'instant' | 'day' | 'clock' | 'relative';
}

/** A time in its zone, exact UTC on hover. */
export function Time({ at, zone = OPERATOR_ZONE, as = 'instant' }: TimeProps): ReactNode {
  const label = zone === 'UTC' ? formatUtc(at) : `${formatInstant(at, zone)} (${zone}) – ${formatUtc(at)}`;
  return (
    <Tooltip label={label}>
      <time className={classes.figure} dateTime={new Date(at).toISOString()}>
        {as === 'relative' ? (
          <Relative at={at} />
        ) : as === 'day' ? (
          formatDay(at, zone)
        ) : as === 'clock' ? (
          formatClock(at, zone)
        ) : (
          formatInstant(at, zone)
        )}
      </time>
    </Tooltip>
  );
}

function Relative({ at }: { readonly at: Instant }): ReactNode {
  return formatRelative(at, useNow());
}
