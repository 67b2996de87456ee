import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Override } from '@quotaplane/contracts';
import { columnsOf, type Column } from '../../../components/data-table';
import { Time } from '../../../components/figures';
import { describeSet } from './override-set';
import { isOpenAt, OverrideStateBadge } from './override-state';
import { SubjectLabel, subjectWords } from './subject-label';
import classes from './override-list.module.css';

const column = columnsOf<Override>();

/** Columns of the list of everyone's overrides. */
export function overrideColumns(onRevert: ((override: Override) => void) | undefined): Column<Override>[] {
  return [
    column.display({
      id: 'tenant',
      header: 'Tenant',
      cell: ({ row: { original: override } }) => (
        <Link to="/tenants/$slug" params={{ slug: override.tenant }} hash={`override-${override.id}`} className={classes.tenant}>
          {override.tenant}
        </Link>
      ),
    }),
    column.display({ id: 'subject', header: 'For', cell: ({ row: { original: override } }) => <SubjectLabel subject={override.subject} /> }),
    column.display({
      id: 'set',
      header: 'Gives',
      cell: ({ row: { original: override } }) => (
        <span className={classes.numbers}>
          {override.mode} {describeSet(override.set).join(', ')}
        </span>
      ),
    }),
    column.display({
      id: 'state',
      header: 'State',
      cell: ({ row: { original: override } }) => <OverrideStateBadge override={override} />,
    }),
    column.display({
      id: 'until',
      header: 'Until',
      cell: ({ row: { original: override } }) => (override.until === null ? 'no end' : <Time at={override.until} />),
    }),
    column.display({
      id: 'reason',
      header: 'Reason',
      cell: ({ row: { original: override } }) => (
        <span className={classes.why} title={override.reason}>
          {override.reason} {override.ticket === null ? null : <code>{override.ticket}</code>}
        </span>
      ),
    }),
    column.display({ id: 'by', header: 'By', cell: ({ row: { original: override } }) => <span className={classes.by}>{override.createdBy}</span> }),
    column.display({
      id: 'actions',
      header: () => <span className={classes.hidden}>Actions</span>,
      meta: { isNumeric: true },
      cell: ({ row: { original: override } }) =>
        onRevert && isOpenAt(override, Date.now()) ? (
          <Button size="compact-sm" variant="default" aria-label={`Revert an override of ${subjectWords(override)}`} onClick={() => onRevert(override)}>
            Revert
          </Button>
        ) : null,
    }),
  ];
}
