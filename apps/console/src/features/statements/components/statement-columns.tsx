import { Link } from '@tanstack/react-router';
import type { Statement } from '@quotaplane/contracts';
import { Badge } from '../../../components/badge';
import { columnsOf } from '../../../components/data-table';
import { Count, Time } from '../../../components/figures';
import { lastInstant } from '../../../format/time';
import { ReconciledBadge } from './reconciled-badge';
import { verdictOfAll } from './reconciliation-words';
import classes from './statement.module.css';

const column = columnsOf<Statement>();

/** Columns of the list of statements. */
export const statementColumns = [
  column.display({
    id: 'tenant',
    header: 'Tenant, statement',
    cell: ({ row: { original: statement } }) => (
      <span className={classes.stacked}>
        <Link to="/statements/$id" params={{ id: statement.id }} className={classes.name}>
          {statement.tenant}
        </Link>
        <span className={classes.quiet}>no. {statement.number}</span>
      </span>
    ),
  }),
  column.display({
    id: 'period',
    header: 'Period',
    cell: ({
      row: {
        original: { period },
      },
    }) => (
      <span className={classes.stacked}>
        <span>
          <Time at={period.start} zone={period.timezone} as="day" /> – <Time at={lastInstant(period.end)} zone={period.timezone} as="day" />
        </span>
        <span className={classes.quiet}>{period.timezone}</span>
      </span>
    ),
  }),
  ...(['used', 'billable'] as const).map((figure) =>
    column.display({
      id: figure,
      header: figure === 'used' ? 'Used, units' : 'Billable',
      meta: { isNumeric: true },
      cell: ({ row: { original: statement } }) => (
        <span className={classes.right}>
          {statement.totals.map((total) => (
            <span key={total.meter}>
              {statement.totals.length > 1 ? <span className={classes.quiet}>{total.meter} </span> : null}
              <Count units={total[figure]} />
            </span>
          ))}
          {statement.totals.length === 0 ? '0' : null}
        </span>
      ),
    }),
  ),
  column.display({ id: 'reconciled', header: 'Reconciliation', cell: ({ row: { original: statement } }) => <ReconciledBadge verdict={verdictOfAll(statement)} of="statement" /> }),
  column.display({
    id: 'adjusted',
    header: 'Adjusted',
    cell: ({ row: { original: statement } }) =>
      statement.adjustments.length === 0 ? <span className={classes.quiet}>no</span> : <Badge tone="brand">{statement.adjustments.length} since</Badge>,
  }),
  column.display({
    id: 'closed',
    header: 'Closed',
    cell: ({ row: { original: statement } }) => (
      <span className={classes.stacked}>
        <Time at={statement.closedAt} zone={statement.period.timezone} as="day" />
        <span className={classes.quiet}>by {statement.closedBy}</span>
      </span>
    ),
  }),
  column.display({
    id: 'hash',
    header: 'Hash',
    cell: ({ row: { original: statement } }) => <code title={statement.hash}>{statement.hash.slice(0, 8)}</code>,
  }),
];
