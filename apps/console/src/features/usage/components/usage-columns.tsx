import type { ReactNode } from 'react';
import { ActionIcon } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import type { UsageItem } from '@quotaplane/contracts';
import { columnsOf, type Column } from '../../../components/data-table';
import { Count, Time } from '../../../components/figures';
import { UsageBar } from '../../../components/usage-bar';
import { formatCount, formatShort } from '../../../format/number';
import { lastInstant } from '../../../format/time';
import { Outlook } from './outlook';
import classes from './usage.module.css';

const column = columnsOf<UsageItem>();

export const usageKeyOf = ({ tenant, meter, period }: UsageItem): string => `${tenant} ${meter} ${period.id}`;

interface Opened {
  readonly opened: ReadonlySet<string>;
  readonly onToggle: (item: UsageItem) => void;
}

const firstColumn = ({ opened, onToggle }: Opened) =>
  column.display({
    id: 'tenant',
    header: 'Tenant, meter',
    meta: { sortKey: 'tenant' },
    cell: ({ row: { original: item } }) => {
      const isOpen = opened.has(usageKeyOf(item));
      return (
        <span className={classes.first}>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="sm"
            aria-label={`What ${item.tenant} used of ${item.meter}`}
            aria-expanded={isOpen}
            onClick={() => onToggle(item)}
          >
            {isOpen ? <IconChevronDown size={15} /> : <IconChevronRight size={15} />}
          </ActionIcon>
          <span className={classes.period}>
            <Link to="." search={(before: object) => ({ ...before, tenant: item.tenant })} resetScroll={false} className={classes.tenant}>
              {item.tenant}
            </Link>
            <span className={classes.zone}>{item.meter}</span>
          </span>
        </span>
      );
    },
  });

const columns = [
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
    cell: ({ row: { original: item } }) => (
      <span className={classes.right}>
        <Count units={item.allowance} isShort />
        {extrasOf(item) === '' ? null : <span className={classes.zone}>{extrasOf(item)}</span>}
      </span>
    ),
  }),
  column.display({
    id: 'share',
    header: 'Of allowance',
    meta: { width: '150px' },
    cell: ({ row: { original: item } }) => (
      <span className={classes.stacked}>
        <UsageBar used={item.used} allowance={item.allowance} label={`${item.tenant} ${item.meter}`} />
        <HighestThreshold item={item} />
      </span>
    ),
  }),
  column.display({
    id: 'left',
    header: 'Left, at this pace',
    meta: { isNumeric: true },
    cell: ({ row: { original: item } }) => (
      <span className={classes.right}>
        {item.remaining === null ? <span className={classes.zone}>no cap</span> : <Count units={item.remaining} />}
        <span className={classes.zone}>
          <Outlook item={item} isShort />
        </span>
      </span>
    ),
  }),
  column.display({
    id: 'overage',
    header: 'Overage',
    meta: { isNumeric: true, sortKey: 'overage', firstSort: 'down' },
    cell: ({ row: { original: item } }) =>
      item.overage === '0' ? (
        <span className={classes.zone}>–</span>
      ) : (
        <span className={classes.right}>
          <Count units={item.overage} />
          <span className={classes.zone}>{item.billable === '0' ? 'none billable' : `${formatCount(item.billable)} billable`}</span>
        </span>
      ),
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

/** What of an allowance is not the tier's, short. */
const extrasOf = ({ carried, granted }: UsageItem): string =>
  [...(carried === '0' ? [] : [`${formatShort(carried)} carried`]), ...(granted === '0' ? [] : [`${formatShort(granted)} granted`])].join(', ');

function HighestThreshold({ item: { thresholds } }: { readonly item: UsageItem }): ReactNode {
  const highest = Math.max(0, ...thresholds.map(({ percent }) => percent));
  return highest === 0 ? null : <span className={classes.zone}>{highest}% reached</span>;
}

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
export function usageColumnsOf(hasDegraded: boolean, opened: Opened): Column<UsageItem>[] {
  const [used, ...rest] = columns;
  return [firstColumn(opened), ...(used === undefined ? [] : [used]), ...(hasDegraded ? [degradedColumn] : []), ...rest];
}
