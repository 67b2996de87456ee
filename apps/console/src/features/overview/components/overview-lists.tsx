import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import { IconCheck, IconServer2 } from '@tabler/icons-react';
import type { Node, Offender, Override, TenantRow } from '@quotaplane/contracts';
import { Badge } from '../../../components/badge';
import { Time } from '../../../components/figures';
import { EmptyLine } from '../../../components/notices';
import { UsageBar } from '../../../components/usage-bar';
import { formatCount } from '../../../format/number';
import { describeSet } from '../../overrides/components/override-set';
import { NodeState } from '../../rollout/components/node-state';
import classes from './tile.module.css';

const FINE = <IconCheck size={16} stroke={2.2} aria-hidden />;

export function OffenderList({ offenders }: { readonly offenders: readonly Offender[] }): ReactNode {
  if (offenders.length === 0)
    return <EmptyLine icon={FINE}>Nobody was denied in the last 15 minutes.</EmptyLine>;
  return (
    <ul className={classes.list}>
      {offenders.map(({ tenant, subject, denials, limits }) => (
        <li key={`${tenant} ${subject.scope} ${subject.id}`} className={classes.item}>
          <Link to="/tenants/$slug" params={{ slug: tenant }}>
            {tenant}
          </Link>
          <span className={classes.sub}>
            {subject.scope} · {limits.map(({ name }) => name).join(', ')}
          </span>
          <Badge tone="bad">{formatCount(denials)} denied</Badge>
        </li>
      ))}
    </ul>
  );
}

export function NearList({ tenants, nearPercent }: { readonly tenants: readonly TenantRow[]; readonly nearPercent: number }): ReactNode {
  if (tenants.length === 0)
    return <EmptyLine icon={FINE}>Everyone has room: no tenant has used {nearPercent}% of its period.</EmptyLine>;
  return (
    <ul className={classes.list}>
      {tenants.map((tenant) => (
        <li key={tenant.slug} className={classes.item}>
          <Link to="/tenants/$slug" params={{ slug: tenant.slug }}>
            {tenant.slug}
          </Link>
          <UsageBar used={tenant.monthUsed} allowance={tenant.monthAllowance} label={`${tenant.slug}, this month`} />
          <span className={classes.sub}>{tenant.tier}</span>
        </li>
      ))}
    </ul>
  );
}

export function EndingList({ overrides }: { readonly overrides: readonly Override[] }): ReactNode {
  if (overrides.length === 0)
    return <EmptyLine icon={FINE}>No active override has an end.</EmptyLine>;
  return (
    <ul className={classes.list}>
      {overrides.map((override) => (
        <li key={override.id} className={classes.item}>
          <Link to="/tenants/$slug" params={{ slug: override.tenant }}>
            {override.tenant}
          </Link>
          <span className={classes.sub} title={override.reason}>
            {describeSet(override.set).join(', ')}
          </span>
          {override.until === null ? null : <Time at={override.until} as="relative" />}
        </li>
      ))}
    </ul>
  );
}

export function NodeList({ nodes }: { readonly nodes: readonly Node[] }): ReactNode {
  if (nodes.length === 0) {
    return <EmptyLine icon={<IconServer2 size={16} aria-hidden />}>No guard has reported. Start a guarded service; it appears within a second.</EmptyLine>;
  }
  return (
    <ul className={classes.list}>
      {nodes.map((node) => (
        <li key={node.incarnation} className={classes.item} data-gone={!node.alive || undefined}>
          <strong>{node.service}</strong>
          <span className={classes.sub}>
            {node.host} · {node.pid} · seen <Time at={node.lastSeen} as="relative" />
          </span>
          <NodeState node={node} />
        </li>
      ))}
    </ul>
  );
}
