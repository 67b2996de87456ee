import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { UsageItem } from '@quotaplane/contracts';
import { Count, Time } from '../../../components/figures';
import { Loaded } from '../../../components/loaded';
import { Empty } from '../../../components/notices';
import { UsageBar } from '../../../components/usage-bar';
import { useNow } from '../../../components/use-now';
import { formatCount, percentOf } from '../../../format/number';
import { lastInstant } from '../../../format/time';
import { currentUsageQuery } from '../api/usage.queries';
import classes from './quota-card.module.css';

/** The running period of each meter of a tenant. */
export function QuotaCards({ tenant }: { readonly tenant: string }): ReactNode {
  const usage = useQuery(currentUsageQuery(tenant));
  return (
    <Loaded query={usage} heightPx={100}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="Nothing used yet">The ledger opens with the first unit that a guard admits in this period.</Empty>
        ) : (
          <div className={classes.list}>
            {items.map((item) => (
              <QuotaCard key={`${item.meter} ${item.period.id}`} item={item} />
            ))}
          </div>
        )
      }
    </Loaded>
  );
}

function QuotaCard({ item }: { readonly item: UsageItem }): ReactNode {
  const { period, used, allowance } = item;
  const nowMs = useNow();
  const spentAt = projectedEnd(item, nowMs);
  return (
    <div className={classes.card}>
      <div className={classes.head}>
        <strong>{item.meter}</strong>
        <span>
          <Count units={used} /> of <Count units={allowance} /> units
        </span>
      </div>
      <UsageBar used={used} allowance={allowance} label={`${item.meter}, this period`} />
      <p className={classes.note}>
        Period <Time at={period.start} zone={period.timezone} as="day" /> to <Time at={lastInstant(period.end)} zone={period.timezone} as="day" />,{' '}
        {period.timezone}; ends <Time at={period.end} zone={period.timezone} as="relative" />.
        {spentAt === null ? null : (
          <>
            {' '}
            At this pace it is spent on <Time at={spentAt} zone={period.timezone} as="day" />.
          </>
        )}
        {item.overage === '0' ? null : (
          <>
            {' '}
            {formatCount(item.overage)} units above it, {formatCount(item.billable)} billable.
          </>
        )}
      </p>
    </div>
  );
}

/** When the allowance is spent at this period's average pace; null when that is after its end or cannot be said. */
function projectedEnd({ period, used, allowance }: UsageItem, nowMs: number): number | null {
  const percent = percentOf(used, allowance);
  const startMs = Date.parse(period.start);
  if (percent === null || allowance === null || used === '0' || percent >= 100 || nowMs <= startMs) return null;
  const atMs = startMs + (nowMs - startMs) * (Number(allowance) / Number(used));
  return atMs < Date.parse(period.end) ? Math.round(atMs) : null;
}
