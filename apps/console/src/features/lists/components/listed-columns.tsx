import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { RESERVED_TENANT_SLUGS } from '../../../api/contract.facts';
import { Badge } from '../../../components/badge';
import { columnsOf, type Column } from '../../../components/data-table';
import { Time } from '../../../components/figures';
import layout from '../../../components/layout.module.css';
import { listedWords, SCOPE_WORDS, stateAt, type Listed } from './listed';
import { ListedState } from './listed-state';
import classes from './lists.module.css';

const column = columnsOf<Listed>();
const isReserved = (tenant: string): boolean => RESERVED_TENANT_SLUGS.some((reserved) => reserved === tenant);

/** @param onLift undefined where the operator may not */
export function listedColumns(onLift: ((listed: Listed) => void) | undefined): Column<Listed>[] {
  return [
    column.display({
      id: 'subject',
      header: 'Who',
      cell: ({ row: { original: listed } }) => (
        <span className={classes.subject}>
          <Badge>{SCOPE_WORDS[listed.subject.scope] ?? listed.subject.scope}</Badge>
          <code title={listed.subject.id}>{listed.subject.scope === 'tenant' ? listed.tenant : listed.subject.id}</code>
        </span>
      ),
    }),
    column.display({
      id: 'tenant',
      header: 'Tenant',
      cell: ({ row: { original: listed } }) =>
        listed.tenant === null ? (
          <span className={classes.quiet}>any</span>
        ) : isReserved(listed.tenant) ? (
          listed.tenant
        ) : (
          <Link to="/tenants/$slug" params={{ slug: listed.tenant }}>
            {listed.tenant}
          </Link>
        ),
    }),
    column.display({ id: 'state', header: 'State', cell: ({ row: { original: listed } }) => <ListedState listed={listed} /> }),
    column.display({
      id: 'reason',
      header: 'Why',
      cell: ({ row: { original: listed } }) =>
        listed.ban ? (
          <span>
            denied too often by <strong>{listed.ban.limit}</strong>
            {listed.ban.level > 1 ? `, ban ${listed.ban.level} in a row` : ''}
          </span>
        ) : (
          <span className={classes.why} title={listed.reason ?? undefined}>
            {listed.reason} {listed.ticket === null ? null : <code>{listed.ticket}</code>}
          </span>
        ),
    }),
    column.display({
      id: 'by',
      header: 'By',
      cell: ({ row: { original: listed } }) => (listed.by === null ? <Badge tone="brand">by itself</Badge> : <span className={classes.by}>{listed.by}</span>),
    }),
    column.display({
      id: 'times',
      header: 'From, until',
      cell: ({ row: { original: listed } }) => (
        <span className={classes.times}>
          <Time at={listed.from} />
          {listed.until === null ? 'no end' : <Time at={listed.until} />}
        </span>
      ),
    }),
    column.display({
      id: 'actions',
      header: () => <span className={layout.hidden}>Actions</span>,
      meta: { isNumeric: true },
      cell: ({ row: { original: listed } }) =>
        onLift && ['active', 'scheduled'].includes(stateAt(listed, Date.now())) ? (
          <Button size="compact-sm" variant="default" aria-label={`Lift the entry of ${listedWords(listed)}`} onClick={() => onLift(listed)}>
            Lift
          </Button>
        ) : null,
    }),
  ];
}
