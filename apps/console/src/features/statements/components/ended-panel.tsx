import { useMemo, useState, type ReactNode } from 'react';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { UsageItem } from '@quotaplane/contracts';
import { Time } from '../../../components/figures';
import { Panel } from '../../../components/page';
import { formatCount, plural } from '../../../format/number';
import { lastInstant } from '../../../format/time';
import { endedPeriodsQuery, MOST_ENDED } from '../api/statement.queries';
import { CloseLink } from './close-link';
import classes from './statement.module.css';

/** Rows before the rest is asked for. */
const SHOWN = 5;

interface EndedPanelProps {
  /** Months that the periods start in. */
  readonly months: readonly string[];
  readonly tenant: string | undefined;
}

/** Periods that have ended and wait for their close; nothing at all where there is none. */
export function EndedPanel({ months, tenant }: EndedPanelProps): ReactNode {
  const ended = useQuery(endedPeriodsQuery(months, tenant));
  const periods = useMemo(() => byPeriod(ended.data?.items ?? []), [ended.data]);
  const [isWhole, setWhole] = useState(false);
  if (periods.length === 0) return null;
  return (
    <Panel
      title="Ended, not closed yet"
      isFlush
      note={`${plural(periods.length, 'period')}${ended.data?.isCut ? ` among the first ${formatCount(MOST_ENDED)} rows of a month` : ''}; each closes by itself once its time for late usage is over`}
    >
      <ul className={classes.list}>
        {(isWhole ? periods : periods.slice(0, SHOWN)).map(([first, ...rest]) => (
          <li key={`${first.tenant} ${first.period.id}`} className={classes.ended}>
            <Link to="/tenants/$slug" params={{ slug: first.tenant }} className={classes.name}>
              {first.tenant}
            </Link>
            <span>
              <Time at={first.period.start} zone={first.period.timezone} as="day" /> – <Time at={lastInstant(first.period.end)} zone={first.period.timezone} as="day" />
            </span>
            <span className={classes.quiet}>
              ended <Time at={first.period.end} zone={first.period.timezone} as="relative" /> · {[first, ...rest].map(({ meter, used }) => `${meter} ${formatCount(used)}`).join(', ')}
            </span>
            <CloseLink item={first} />
          </li>
        ))}
      </ul>
      {periods.length > SHOWN ? (
        <div className={classes.more}>
          <Button size="compact-sm" variant="subtle" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Show fewer' : `Show all ${formatCount(periods.length)}`}
          </Button>
        </div>
      ) : null}
    </Panel>
  );
}

type Meters = [UsageItem, ...UsageItem[]];

/** Meters of a tenant's period close together; what ended last comes first. */
function byPeriod(items: readonly UsageItem[]): Meters[] {
  const periods = new Map<string, Meters>();
  for (const item of items) {
    const key = `${item.tenant} ${item.period.id}`;
    const held = periods.get(key);
    if (held) held.push(item);
    else periods.set(key, [item]);
  }
  return [...periods.values()].toSorted(([a], [b]) => Date.parse(b.period.end) - Date.parse(a.period.end));
}
