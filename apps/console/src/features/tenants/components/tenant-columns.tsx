import { Link } from '@tanstack/react-router';
import { IconTrendingUp } from '@tabler/icons-react';
import type { TenantRow } from '@quotaplane/contracts';
import { Badge } from '../../../components/badge';
import { columnsOf } from '../../../components/data-table';
import { Count } from '../../../components/figures';
import { UsageBar } from '../../../components/usage-bar';
import { formatCount } from '../../../format/number';
import { RaiseLink } from '../../overrides/components/raise-link';
import { TenantStatusBadge } from './tenant-status-badge';
import classes from './tenants.module.css';

const column = columnsOf<TenantRow>();

/** Columns of the tenant list. */
export const tenantColumns = [
  column.display({
    id: 'tenant',
    header: 'Tenant',
    meta: { sortKey: 'slug', width: '24%' },
    cell: ({ row: { original: tenant } }) => (
      <span className={classes.name}>
        <Link to="/tenants/$slug" params={{ slug: tenant.slug }}>
          {tenant.slug}
        </Link>
        <span className={classes.sub}>{tenant.name}</span>
      </span>
    ),
  }),
  column.display({
    id: 'tier',
    header: 'Tier',
    cell: ({ row: { original: tenant } }) => (
      <Link to="/tiers/$slug" params={{ slug: tenant.tier }} className={classes.quiet}>
        {tenant.tier}
      </Link>
    ),
  }),
  column.display({
    id: 'state',
    header: 'Status',
    cell: ({ row: { original: tenant } }) => (
      <span className={classes.chips}>
        <TenantStatusBadge status={tenant.status} />
        {tenant.activeOverrides > 0 ? (
          <Badge tone="brand" icon={<IconTrendingUp size={12} stroke={2.4} aria-hidden />}>
            {tenant.activeOverrides === 1 ? 'raised' : `${tenant.activeOverrides} overrides`}
          </Badge>
        ) : null}
      </span>
    ),
  }),
  column.display({
    id: 'month',
    header: 'Month used',
    meta: { sortKey: 'monthUsed', firstSort: 'down', width: '24%' },
    cell: ({ row: { original: tenant } }) => (
      <UsageBar used={tenant.monthUsed} allowance={tenant.monthAllowance} label={`${tenant.slug}, this month`} />
    ),
  }),
  column.display({
    id: 'units',
    header: 'Units this month',
    meta: { isNumeric: true },
    cell: ({ row: { original: tenant } }) => <Count units={tenant.monthUsed} isShort />,
  }),
  column.display({
    id: 'denied',
    header: 'Denied, last hour',
    meta: { isNumeric: true },
    cell: ({ row: { original: tenant } }) =>
      tenant.deniedLastHour === 0 ? (
        <span className={classes.zero}>0</span>
      ) : (
        <span className={classes.denied}>{formatCount(tenant.deniedLastHour)}</span>
      ),
  }),
  column.display({
    id: 'actions',
    header: () => <span className={classes.hidden}>Actions</span>,
    meta: { isNumeric: true, width: '96px' },
    cell: ({ row: { original: tenant } }) => (tenant.reserved ? null : <RaiseLink tenant={tenant.slug} isCompact />),
  }),
];
