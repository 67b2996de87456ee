import type { ReactNode } from 'react';
import { formatCount, formatPercent, percentOf, type Units } from '../format/number';
import { Tooltip } from './tooltip';
import classes from './usage-bar.module.css';

interface UsageBarProps {
  readonly used: string;
  readonly allowance: Units;
  /** What is measured, for assistive technology. */
  readonly label: string;
  /** Whether near and past the end are marked; off where being spent is nothing to worry about. */
  readonly hasAlarm?: boolean;
}

/** How much of an allowance is used: bar, percentage in figures, exact units on hover. */
export function UsageBar({ used, allowance, label, hasAlarm = true }: UsageBarProps): ReactNode {
  const percent = percentOf(used, allowance);
  const exact = allowance === null ? `${formatCount(used)} units used, no allowance` : `${formatCount(used)} of ${formatCount(allowance)} units used`;
  const tone = percent === null ? 'none' : !hasAlarm ? 'fine' : percent >= 100 ? 'over' : percent >= 80 ? 'near' : 'fine';
  return (
    <Tooltip label={exact}>
      <span className={classes.root}>
        <svg className={classes.bar} role="img" aria-label={`${label}: ${exact}`} preserveAspectRatio="none" viewBox="0 0 100 6">
          <rect className={classes.track} width="100" height="6" />
          <rect className={classes[tone]} width={Math.min(100, Math.max(percent ?? 0, used === '0' ? 0 : 1.5))} height="6" />
        </svg>
        <span className={classes.figure}>{percent === null ? 'no cap' : formatPercent(percent, used !== '0')}</span>
      </span>
    </Tooltip>
  );
}
