import type { ReactNode } from 'react';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { IconRoute } from '@tabler/icons-react';
import type { EndpointClass } from '@quotaplane/contracts';
import { call } from '../../../api/client';
import { Badge } from '../../../components/badge';
import { columnsOf, DataTable } from '../../../components/data-table';
import { Count } from '../../../components/figures';
import { Loaded } from '../../../components/loaded';
import { Empty } from '../../../components/notices';
import { Page, Panel } from '../../../components/page';
import { formatCount, formatWindow } from '../../../format/number';

export const classKeys = { all: ['endpoint-classes'] as const };

const classListQuery = queryOptions({ queryKey: classKeys.all, queryFn: ({ signal }) => call('classesList', { query: { limit: 200 }, signal }) });

const FAIL_WORDS = { local: 'each node enforces its own share', open: 'requests pass', closed: 'requests get 503' } as const;
const FAIL_TONES = { local: 'brand', open: 'warn', closed: 'bad' } as const;

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
    }) => (retry === null ? 'as a new call' : `${formatCount(retry.cost)} units within ${formatWindow(retry.windowMs)}, at most ${retry.max}`),
  }),
  column.display({ id: 'description', header: 'Description', cell: ({ row: { original: each } }) => each.description || '–' }),
];

export function EndpointClassesPage(): ReactNode {
  const list = useQuery(classListQuery);
  return (
    <Page title="Endpoint classes" lead="What a call costs, what it is metered as, and what happens to it when the store is away.">
      <Panel title="Classes" isFlush>
        <Loaded query={list}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="No classes" icon={<IconRoute size={30} stroke={1.4} aria-hidden />}>
                Every route then costs one unit of the meter requests. Create a class through POST /v1/endpoint-classes.
              </Empty>
            ) : (
              <DataTable label="Endpoint classes" columns={columns} rows={items} rowKey={(each) => each.slug} />
            )
          }
        </Loaded>
      </Panel>
    </Page>
  );
}
