import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { UsageItem } from '@quotaplane/contracts';
import { Disclosure } from '../../../components/disclosure';
import { Count, Time } from '../../../components/figures';
import { Loaded } from '../../../components/loaded';
import { Empty } from '../../../components/notices';
import { Facts } from '../../../components/page';
import { UsageBar } from '../../../components/usage-bar';
import { formatCount } from '../../../format/number';
import { lastInstant } from '../../../format/time';
import { tenantUsageQuery } from '../api/usage.queries';
import { Breakdown } from './breakdown';
import { Outlook } from './outlook';
import { Thresholds } from './thresholds';
import classes from './quota-card.module.css';

/** The running period of each meter of a tenant. */
export function QuotaCards({ tenant }: { readonly tenant: string }): ReactNode {
  const usage = useQuery(tenantUsageQuery(tenant));
  return (
    <Loaded query={usage} heightPx={100}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="Nothing used yet">The ledger opens with the first unit that a guard admits in this period.</Empty>
        ) : (
          <div className={classes.list}>
            {items.map((item) => (
              <div key={`${item.meter} ${item.period.id}`} className={classes.padded}>
                <QuotaCard item={item} />
              </div>
            ))}
          </div>
        )
      }
    </Loaded>
  );
}

/** One meter in one period: how much of what it may use is used, and how long the rest lasts. */
export function QuotaCard({ item }: { readonly item: UsageItem }): ReactNode {
  const { meter, period, used, allowance, remaining, overage, billable } = item;
  return (
    <section className={classes.card} aria-label={`Quota of ${meter}`}>
      <div className={classes.head}>
        <strong>{meter}</strong>
        <span>
          <Count units={used} /> of <Count units={allowance} /> units
        </span>
      </div>
      <UsageBar used={used} allowance={allowance} label={`${meter}, this period`} />
      {allowance === null ? null : (
        <Facts
          items={[
            ['Left', <Left key="left" item={item} remaining={remaining} />],
            ['Allowance', <Allowance key="allowance" item={item} />],
            ...(overage === '0' ? [] : [['Above it', `${formatCount(overage)} units, ${formatCount(billable)} billable`] as const]),
          ]}
        />
      )}
      <Thresholds item={item} />
      <p className={classes.note}>
        Period <Time at={period.start} zone={period.timezone} as="day" /> to <Time at={lastInstant(period.end)} zone={period.timezone} as="day" />,{' '}
        {period.timezone};{' '}
        {item.status === 'open' ? (
          <>
            ends <Time at={period.end} zone={period.timezone} as="relative" />
          </>
        ) : (
          item.status
        )}
        .
      </p>
      <Disclosure label="What it is made of">
        <Breakdown item={item} />
      </Disclosure>
    </section>
  );
}

function Left({ item, remaining }: { readonly item: UsageItem; readonly remaining: string | null }): ReactNode {
  return (
    <>
      <Count units={remaining} /> units{' '}
      <span className={classes.quiet}>
        <Outlook item={item} />
      </span>
    </>
  );
}

/** The allowance, and what of it is not the tier's or an override's. */
export function Allowance({ item: { allowance, carried, granted } }: { readonly item: UsageItem }): ReactNode {
  const extras = [
    ...(carried === '0' ? [] : [`${formatCount(carried)} carried over`]),
    ...(granted === '0' ? [] : [`${formatCount(granted)} granted`]),
  ];
  return (
    <>
      <Count units={allowance} /> units {extras.length === 0 ? null : <span className={classes.quiet}>of it {extras.join(', ')}</span>}
    </>
  );
}
