import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { DegradedUsageItem } from '@quotaplane/contracts';
import { columnsOf, DataTable } from '../../../components/data-table';
import { Count, Time } from '../../../components/figures';
import { Panel } from '../../../components/page';
import { formatCount } from '../../../format/number';
import { degradedUsageQuery, MOST_OUTAGE_ROWS } from '../api/usage.queries';
import { SETTLEMENT_WORDS, sumOf } from './settlement-words';
import classes from './usage.module.css';

const column = columnsOf<DegradedUsageItem>();

const outageColumns = [
  column.display({ id: 'hour', header: 'Hour from', cell: ({ row: { original: item } }) => <Time at={item.hour} /> }),
  column.display({ id: 'tenant', header: 'Tenant', cell: ({ row: { original: item } }) => <span className={classes.tenant}>{item.tenant}</span> }),
  column.display({ id: 'class', header: 'Endpoint class', cell: ({ row: { original: item } }) => item.class }),
  column.display({ id: 'meter', header: 'Meter', cell: ({ row: { original: item } }) => item.meter }),
  column.display({
    id: 'degraded',
    header: 'Admitted, units',
    meta: { isNumeric: true },
    cell: ({ row: { original: item } }) => <Count units={item.degraded} />,
  }),
  column.display({
    id: 'settled',
    header: 'Of these count',
    meta: { isNumeric: true },
    cell: ({ row: { original: item } }) => <Count units={item.settled} />,
  }),
  column.display({ id: 'settlement', header: 'By the tier’s rule', cell: ({ row: { original: item } }) => SETTLEMENT_WORDS[item.settlement] }),
];

/** What outages of the store gave away in the last 31 days; nothing at all where there was none. */
export function OutagePanel(): ReactNode {
  const outages = useQuery(degradedUsageQuery());
  const items = outages.data?.items ?? [];
  if (items.length === 0) return null;
  const isCut = outages.data?.nextCursor !== null;
  return (
    <Panel
      title="Admitted while Redis was away"
      note={`${isCut ? `newest ${MOST_OUTAGE_ROWS} rows` : 'last 31 days'}: ${formatCount(sumOf(items, ({ degraded }) => degraded))} units, of which ${formatCount(sumOf(items, ({ settled }) => settled))} count`}
      isFlush
    >
      <p className={classes.explanation}>
        Nodes go on by themselves while the store does not answer, each with its share of a limit. What they admitted is counted apart, and the tier says
        what of it goes on the bill: all of it, nothing, or as much as the allowance had left, the oldest hours first.
      </p>
      <DataTable
        label="Admitted while Redis was away"
        columns={outageColumns}
        rows={items}
        rowKey={({ hour, tenant, meter, class: className, period }) => [hour, tenant, meter, className, period].join(' ')}
        maxHeight="360px"
      />
    </Panel>
  );
}
