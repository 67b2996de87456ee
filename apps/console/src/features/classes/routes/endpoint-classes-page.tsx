import { useMemo, useState, type ReactNode } from 'react';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { IconPlus, IconRoute } from '@tabler/icons-react';
import type { EndpointClass } from '@quotaplane/contracts';
import { Badge } from '../../../components/badge';
import { columnsOf, DataTable, type Column } from '../../../components/data-table';
import { Count } from '../../../components/figures';
import layout from '../../../components/layout.module.css';
import { Loaded } from '../../../components/loaded';
import { Empty } from '../../../components/notices';
import { onDemand } from '../../../components/on-demand';
import { Page } from '../../../components/page';
import { formatWindow, plural } from '../../../format/number';
import { useCan } from '../../session/api/session.queries';
import { classListQuery } from '../api/class.queries';
import { FAIL_TONES, FAIL_WORDS } from '../components/fail-mode';

const CreateClass = onDemand(async () => (await import('../components/class-dialogs')).CreateClass, ({ isOpen }) => isOpen);
const EditClass = onDemand(async () => (await import('../components/class-dialogs')).EditClass, ({ edited }) => edited !== undefined);

const column = columnsOf<EndpointClass>();
const columns = [
  column.display({ id: 'slug', header: 'Class', cell: ({ row: { original: each } }) => <strong>{each.slug}</strong> }),
  column.display({
    id: 'cost',
    header: 'Cost, units',
    meta: { isNumeric: true },
    cell: ({ row: { original: each } }) => <Count units={each.cost} />,
  }),
  column.display({ id: 'meter', header: 'Meter', cell: ({ row: { original: each } }) => each.meter }),
  column.display({
    id: 'fail',
    header: 'When the store is away',
    cell: ({ row: { original: each } }) => (
      <>
        <Badge tone={FAIL_TONES[each.failMode]} icon={null}>
          {each.failMode}
        </Badge>{' '}
        {FAIL_WORDS[each.failMode]}
      </>
    ),
  }),
  column.display({
    id: 'refund',
    header: 'Refunds on',
    cell: ({ row: { original: each } }) => (each.refundOn.length === 0 ? 'nothing' : each.refundOn.join(', ')),
  }),
  column.display({
    id: 'retry',
    header: 'Retries',
    cell: ({
      row: {
        original: { retry },
      },
    }) => (retry === null ? 'as a new call' : `${plural(retry.cost, 'unit')} within ${formatWindow(retry.windowMs)}, at most ${retry.max}`),
  }),
  column.display({ id: 'description', header: 'Description', cell: ({ row: { original: each } }) => each.description || '–' }),
];

const editColumn = (onEdit: (edited: EndpointClass) => void): Column<EndpointClass> =>
  column.display({
    id: 'actions',
    header: () => <span className={layout.hidden}>Actions</span>,
    meta: { isNumeric: true },
    cell: ({ row: { original: each } }) => (
      <Button size="compact-sm" variant="default" aria-label={`Change the class ${each.slug}`} onClick={() => onEdit(each)}>
        Change
      </Button>
    ),
  });

export function EndpointClassesPage(): ReactNode {
  const list = useQuery(classListQuery);
  const mayWrite = useCan('classes:write');
  const [isCreating, setCreating] = useState(false);
  const [edited, setEdited] = useState<EndpointClass>();
  const shown = useMemo(() => (mayWrite ? [...columns, editColumn(setEdited)] : columns), [mayWrite]);
  return (
    <Page
      title="Endpoint classes"
      lead="What a call costs, what it is metered as, and what happens to it when the store is away."
      actions={
        mayWrite ? (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
            New class
          </Button>
        ) : null
      }
    >
      <section className={layout.panel} aria-label="Endpoint classes">
        <Loaded query={list}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="No classes" icon={<IconRoute size={30} stroke={1.4} aria-hidden />}>
                Every route then costs one unit of the meter requests. A class gives routes another cost or meter.
              </Empty>
            ) : (
              <DataTable label="Endpoint classes" columns={shown} rows={items} rowKey={(each) => each.slug} />
            )
          }
        </Loaded>
      </section>
      <CreateClass isOpen={isCreating} onClose={() => setCreating(false)} />
      <EditClass edited={edited} onClose={() => setEdited(undefined)} />
    </Page>
  );
}
