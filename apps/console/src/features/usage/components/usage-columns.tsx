import { Link } from '@tanstack/react-router';
import type { UsageItem } from '@quotaplane/contracts';
import { columnsOf } from '../../../components/data-table';
import { Count, Time } from '../../../components/figures';
import { UsageBar } from '../../../components/usage-bar';
import { formatCount } from '../../../format/number';
import { lastInstant } from '../../../format/time';
import classes from './usage.module.css';

const column = columnsOf<UsageItem>();

const columns = [
  column.display({
    id: 'tenant',
    header: 'Tenant, meter',
    meta: { sortKey: 'tenant' },
    cell: ({ row: { original: item } }) => (
      <span className={classes.period}>
        <Link to="." search={(before: object) => ({ ...before, tenant: item.tenant })} resetScroll={false} className={classes.tenant}>
          {item.tenant}
        </Link>
        <span className={classes.zone}>{item.meter}</span>
      </span>
    ),
  }),
  column.display({
    id: 'used',
    header: 'Used, units',
    meta: { isNumeric: true, sortKey: 'used', firstSort: 'down' },
    cell: ({ row: { original: item } }) => (
      <strong>
        <Count units={item.used} />
      </strong>
    ),
  }),
  column.display({
    id: 'allowance',
    header: 'Allowance',
    meta: { isNumeric: true },
    cell: ({ row: { original: item } }) => <Count units={item.allowance} isShort />,
  }),
  column.display({
    id: 'share',
    header: 'Of allowance',
    meta: { width: '150px' },
    cell: ({ row: { original: item } }) => <UsageBar used={item.used} allowance={item.allowance} label={`${item.tenant} ${item.meter}`} />,
  }),
  column.display({
    id: 'overage',
    header: 'Overage',
    meta: { isNumeric: true, sortKey: 'overage', firstSort: 'down' },
    cell: ({ row: { original: item } }) => <Count units={item.overage} />,
  }),
  column.display({
    id: 'billable',
    header: 'Billable',
    meta: { isNumeric: true, sortKey: 'billable', firstSort: 'down' },
    cell: ({ row: { original: item } }) => <Count units={item.billable} />,
  }),
  column.display({
    id: 'period',
    header: 'Period, status',
    meta: { sortKey: 'start' },
    cell: ({
      row: {
        original: { period, status },
      },
    }) => (
      <span className={classes.period}>
        <span>
          <Time at={period.start} zone={period.timezone} as="day" /> – <Time at={lastInstant(period.end)} zone={period.timezone} as="day" />
        </span>
        <span className={classes.zone}>
          {period.timezone} · {status}
        </span>
      </span>
    ),
  }),
];

/** Between what was used and its allowance, where an outage of the store has left something to show. */
const degradedColumn = column.display({
  id: 'degraded',
  header: 'Store away',
  meta: { isNumeric: true, sortKey: 'degraded', firstSort: 'down' },
  cell: ({
    row: {
      original: { breakdown },
    },
  }) =>
    breakdown.degraded === '0' ? (
      <span className={classes.zone}>–</span>
    ) : (
      <span className={classes.settled}>
        <Count units={breakdown.degraded} />
        <span className={classes.zone}>{formatCount(breakdown.settled)} count</span>
      </span>
    ),
});

/** Columns for these items: quiet about outages where there was none. */
export const usageColumnsOf = (items: readonly UsageItem[]) =>
  items.every(({ breakdown }) => breakdown.degraded === '0') ? columns : columns.flatMap((each) => (each.id === 'used' ? [each, degradedColumn] : [each]));

/** Largest or smallest first by an exact comparison; equal rows keep the server's order. */
export function sortUsage(items: readonly UsageItem[], sort: string): UsageItem[] {
  const isDown = sort.startsWith('-');
  const key = isDown ? sort.slice(1) : sort;
  const compare = COMPARISONS[key];
  return compare === undefined ? [...items] : items.toSorted((a, b) => (isDown ? compare(b, a) : compare(a, b)));
}

type Comparison = (a: UsageItem, b: UsageItem) => number;
const bySize =
  (of: (item: UsageItem) => string): Comparison =>
  (a, b) => {
    const difference = BigInt(of(a)) - BigInt(of(b));
    return difference < 0n ? -1 : difference > 0n ? 1 : 0;
  };
const COMPARISONS: Readonly<Record<string, Comparison>> = {
  tenant: (a, b) => (a.tenant < b.tenant ? -1 : a.tenant > b.tenant ? 1 : 0),
  start: (a, b) => Date.parse(a.period.start) - Date.parse(b.period.start),
  used: bySize((item) => item.used),
  degraded: bySize((item) => item.breakdown.degraded),
  overage: bySize((item) => item.overage),
  billable: bySize((item) => item.billable),
};
