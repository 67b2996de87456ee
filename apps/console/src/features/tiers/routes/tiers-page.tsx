import { useState, type ReactNode } from 'react';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { IconPlus, IconStack2 } from '@tabler/icons-react';
import type { Tier } from '@quotaplane/contracts';
import { Badge } from '../../../components/badge';
import { columnsOf, DataTable } from '../../../components/data-table';
import { Count, Time } from '../../../components/figures';
import layout from '../../../components/layout.module.css';
import { Loaded } from '../../../components/loaded';
import { Empty } from '../../../components/notices';
import { onDemand } from '../../../components/on-demand';
import { Page } from '../../../components/page';
import { useCan } from '../../session/api/session.queries';
import { tierListQuery } from '../api/tier.queries';
import classes from '../components/tiers.module.css';

const CreateTier = onDemand(async () => (await import('../components/create-tier')).CreateTier, ({ isOpen }) => isOpen);

const column = columnsOf<Tier>();
const columns = [
  column.display({
    id: 'name',
    header: 'Tier',
    cell: ({ row: { original: tier } }) => (
      <Link to="/tiers/$slug" params={{ slug: tier.slug }} className={classes.name}>
        {tier.name} <code>{tier.slug}</code>
      </Link>
    ),
  }),
  column.display({
    id: 'version',
    header: 'In force',
    cell: ({ row: { original: tier } }) =>
      tier.currentVersion === null ? <Badge tone="warn">never published</Badge> : <Badge tone="good">version {tier.currentVersion}</Badge>,
  }),
  column.display({
    id: 'draft',
    header: 'Draft',
    cell: ({ row: { original: tier } }) => (tier.hasDraft ? <Badge tone="brand">unpublished changes</Badge> : 'none'),
  }),
  column.display({
    id: 'tenants',
    header: 'Tenants',
    meta: { isNumeric: true },
    cell: ({ row: { original: tier } }) => (
      <Link to="/tenants" search={{ tier: tier.slug }}>
        <Count units={tier.tenants} unit="tenants" />
      </Link>
    ),
  }),
  column.display({
    id: 'weight',
    header: 'Weight under overload',
    meta: { isNumeric: true },
    cell: ({ row: { original: tier } }) => <Count units={tier.weight} unit="shares" />,
  }),
  column.display({ id: 'support', header: 'Support', cell: ({ row: { original: tier } }) => tier.support || '–' }),
  column.display({ id: 'updated', header: 'Changed', cell: ({ row: { original: tier } }) => <Time at={tier.updatedAt} as="relative" /> }),
];

export function TiersPage(): ReactNode {
  const tiers = useQuery(tierListQuery);
  const mayWrite = useCan('tiers:write');
  const [isCreating, setCreating] = useState(false);
  return (
    <Page
      title="Tiers"
      lead="What customers get by plan. A change is drafted, reviewed and published as a version that never changes again."
      actions={
        mayWrite ? (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
            New tier
          </Button>
        ) : null
      }
    >
      <section className={layout.panel} aria-label="Tiers">
        <Loaded query={tiers}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="No tiers" icon={<IconStack2 size={30} stroke={1.4} aria-hidden />}>
                Create the first one, draft its limits and publish it.
              </Empty>
            ) : (
              <DataTable label="Tiers" columns={columns} rows={items} rowKey={(tier) => tier.slug} />
            )
          }
        </Loaded>
      </section>
      <CreateTier isOpen={isCreating} onClose={() => setCreating(false)} />
    </Page>
  );
}
