import type { ReactNode } from 'react';
import type { UsageItem } from '@quotaplane/contracts';
import { Badge } from '../../../components/badge';
import { Time } from '../../../components/figures';
import classes from './usage.module.css';

/** Which of the tier's thresholds were reached, and when. */
export function Thresholds({ item: { thresholds, period } }: { readonly item: UsageItem }): ReactNode {
  if (thresholds.length === 0) return null;
  return (
    <ul className={classes.thresholds} aria-label="Thresholds reached">
      {thresholds.map(({ percent, reachedAt }) => (
        <li key={percent}>
          <Badge tone={percent >= 100 ? 'bad' : 'warn'}>{percent}% reached</Badge>
          <span className={classes.zone}>
            <Time at={reachedAt} zone={period.timezone} />
          </span>
        </li>
      ))}
    </ul>
  );
}
