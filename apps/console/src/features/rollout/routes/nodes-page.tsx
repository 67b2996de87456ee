import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { IconServer2 } from '@tabler/icons-react';
import type { Node } from '@quotaplane/contracts';
import { columnsOf, DataTable } from '../../../components/data-table';
import { Time } from '../../../components/figures';
import { Loaded } from '../../../components/loaded';
import { Empty, StaleMark } from '../../../components/notices';
import { Page, Panel } from '../../../components/page';
import { liveFirst, nodesQuery } from '../api/rollout.queries';
import { NodeState } from '../components/node-state';

const column = columnsOf<Node>();
const columns = [
  column.display({ id: 'service', header: 'Service', cell: ({ row: { original: node } }) => <strong>{node.service}</strong> }),
  column.display({ id: 'state', header: 'State', cell: ({ row: { original: node } }) => <NodeState node={node} /> }),
  column.display({
    id: 'kind',
    header: 'Counts in receipts',
    cell: ({ row: { original: node } }) => (node.kind === 'service' ? 'yes' : 'no, platform'),
  }),
  column.display({ id: 'host', header: 'Host and process', cell: ({ row: { original: node } }) => `${node.host} · ${node.pid}` }),
  column.display({ id: 'version', header: 'Version', cell: ({ row: { original: node } }) => <code>{node.version}</code> }),
  column.display({ id: 'position', header: 'Feed position', cell: ({ row: { original: node } }) => <code>{node.position}</code> }),
  column.display({ id: 'started', header: 'Started', cell: ({ row: { original: node } }) => <Time at={node.startedAt} as="relative" /> }),
  column.display({ id: 'seen', header: 'Last word', cell: ({ row: { original: node } }) => <Time at={node.lastSeen} as="relative" /> }),
];

export function NodesPage(): ReactNode {
  const nodes = useQuery(nodesQuery);
  return (
    <Page title="Nodes" lead="Guards that enforce the limits. Each says once a second how far it has followed the change feed.">
      <Panel
        title="Guards"
        isFlush
        note={nodes.data ? `${nodes.data.items.filter((node) => node.alive).length} of ${nodes.data.items.length} alive` : undefined}
        actions={<StaleMark error={nodes.error} updatedAtMs={nodes.dataUpdatedAt} />}
      >
        <Loaded query={nodes}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="No guard has reported" icon={<IconServer2 size={32} stroke={1.4} aria-hidden />}>
                Start a guarded service with the same Redis, for instance <code>npm run echo</code>; it appears here within a second.
              </Empty>
            ) : (
              <DataTable label="Guards" columns={columns} rows={liveFirst(items)} rowKey={(node) => node.incarnation} />
            )
          }
        </Loaded>
      </Panel>
    </Page>
  );
}
