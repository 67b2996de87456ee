import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import { IconGauge, IconHourglassLow, IconServer2, IconShieldCheck } from '@tabler/icons-react';
import type { Node, Offender, Override, TenantRow } from '@quotaplane/contracts';
import { Badge } from '../../../components/badge';
import { Time } from '../../../components/figures';
import { Empty } from '../../../components/notices';
import { UsageBar } from '../../../components/usage-bar';
import { formatCount } from '../../../format/number';
import { describeSet } from '../../overrides/components/override-set';
import { NodeState } from '../../rollout/components/node-state';
import classes from './tile.module.css';

export function OffenderList({ offenders }: { readonly offenders: readonly Offender[] }): ReactNode {
  if (offenders.length === 0)
    return (
      <Empty title="Nobody is being denied" icon={<IconShieldCheck size={30} stroke={1.4} aria-hidden />}>
        No denial in the last 15 minutes.
      </Empty>
    );
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
    return (
      <Empty title="Everyone has room" icon={<IconGauge size={30} stroke={1.4} aria-hidden />}>
        No tenant has used {nearPercent}% of its month.
      </Empty>
    );
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
    return (
      <Empty title="Nothing ends soon" icon={<IconHourglassLow size={30} stroke={1.4} aria-hidden />}>
        No active override has an end.
      </Empty>
    );
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
    return (
      <Empty title="No guard has reported" icon={<IconServer2 size={30} stroke={1.4} aria-hidden />}>
        Start a guarded service; it appears here within a second.
      </Empty>
    );
  }
  return (
    <ul className={classes.list}>
      {nodes.map((node) => (
        <li key={node.incarnation} className={classes.item}>
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
