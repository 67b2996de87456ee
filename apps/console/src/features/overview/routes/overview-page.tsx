import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { IconGauge, IconHourglassLow, IconServer2, IconShieldCheck, IconShieldExclamation, IconTrendingUp } from '@tabler/icons-react';
import type { Offender, Override, TenantRow } from '@quotaplane/contracts';
import { Badge } from '../../../components/badge';
import { Time } from '../../../components/figures';
import layout from '../../../components/layout.module.css';
import { Loaded } from '../../../components/loaded';
import { Empty, StaleMark } from '../../../components/notices';
import { Page, Panel } from '../../../components/page';
import { UsageBar } from '../../../components/usage-bar';
import { formatCount, percentOf } from '../../../format/number';
import { offendersQuery } from '../../offenders/api/offender.queries';
import { activeOverridesQuery } from '../../overrides/api/override.queries';
import { describeSet } from '../../overrides/components/override-set';
import { nodesQuery } from '../../rollout/api/rollout.queries';
import { NodeState } from '../../rollout/components/node-state';
import { nearQuotaQuery } from '../../tenants/api/tenant.queries';
import { Tile } from '../components/tile';
import classes from '../components/tile.module.css';

const NEAR_PERCENT = 80;
const SHOWN = 6;

export function OverviewPage(): ReactNode {
  const nodes = useQuery(nodesQuery);
  const offenders = useQuery(offendersQuery(15, { count: 50 }));
  const overrides = useQuery(activeOverridesQuery);
  const tenants = useQuery(nearQuotaQuery);
  const alive = nodes.data?.items.filter((node) => node.alive) ?? [];
  const degraded = alive.filter((node) => node.mode === 'degraded').length;
  const denials = offenders.data?.items.reduce((sum, { denials: count }) => sum + count, 0) ?? 0;
  const ending = soonest(overrides.data?.items ?? []);
  const near = nearest(tenants.data?.items ?? []);
  return (
    <Page title="Overview" lead="What needs a look right now." actions={<StaleMark error={nodes.error ?? offenders.error} updatedAtMs={nodes.dataUpdatedAt} />}>
      <div className={layout.tiles}>
        <Tile to="/nodes" icon={IconServer2} name="Nodes alive" value={nodes.data ? formatCount(alive.length) : '…'} note={degraded > 0 ? `${degraded} degraded` : 'all healthy'} />
        <Tile to="/offenders" icon={IconShieldExclamation} name="Denials, last 15 min" value={offenders.data ? formatCount(denials) : '…'} note={`${formatCount(offenders.data?.items.length ?? 0)} subjects`} />
        <Tile to="/tenants" search={{ sort: '-monthUsed' }} icon={IconGauge} name="Near or past their quota" value={tenants.data ? formatCount(near.length) : '…'} note={`at ${NEAR_PERCENT}% of the month or more`} />
        <Tile to="/audit" search={{ action: 'override.create' }} icon={IconTrendingUp} name="Active overrides" value={overrides.data ? `${formatCount(overrides.data.items.length)}${overrides.data.nextCursor === null ? '' : '+'}` : '…'} note={`${formatCount(ending.filter(endsWithinADay).length)} end within 24 h`} />
      </div>
      <div className={layout.halves}>
        <Panel title="Offenders now" isFlush note="last 15 min" actions={<Link to="/offenders">All offenders</Link>}>
          <Loaded query={offenders}>{({ items }) => <OffenderList offenders={items.slice(0, SHOWN)} />}</Loaded>
        </Panel>
        <Panel title="Near their quota" isFlush note="this period" actions={<Link to="/tenants" search={{ sort: '-monthUsed' }}>All tenants</Link>}>
          <Loaded query={tenants}>{() => <NearList tenants={near.slice(0, SHOWN)} />}</Loaded>
        </Panel>
        <Panel title="Overrides ending soon" isFlush>
          <Loaded query={overrides}>{() => <EndingList overrides={ending.slice(0, SHOWN)} />}</Loaded>
        </Panel>
        <Panel title="Nodes" isFlush actions={<Link to="/nodes">All nodes</Link>}>
          <Loaded query={nodes}>
            {({ items }) => (items.length === 0 ? <Empty title="No guard has reported" icon={<IconServer2 size={30} stroke={1.4} aria-hidden />}>Start a guarded service; it appears here within a second.</Empty> : (
              <ul className={classes.list}>
                {items.slice(0, SHOWN).map((node) => (
                  <li key={node.incarnation} className={classes.item}><strong>{node.service}</strong><span className={classes.sub}>{node.host} · {node.pid} · seen <Time at={node.lastSeen} as="relative" /></span><NodeState node={node} /></li>
                ))}
              </ul>
            ))}
          </Loaded>
        </Panel>
      </div>
    </Page>
  );
}

function OffenderList({ offenders }: { readonly offenders: readonly Offender[] }): ReactNode {
  if (offenders.length === 0) return <Empty title="Nobody is being denied" icon={<IconShieldCheck size={30} stroke={1.4} aria-hidden />}>No denial in the last 15 minutes.</Empty>;
  return (
    <ul className={classes.list}>
      {offenders.map(({ tenant, subject, denials, limits }) => (
        <li key={`${tenant} ${subject.scope} ${subject.id}`} className={classes.item}>
          <Link to="/tenants/$slug" params={{ slug: tenant }}>{tenant}</Link>
          <span className={classes.sub}>{subject.scope} · {limits.map(({ name }) => name).join(', ')}</span>
          <Badge tone="bad">{formatCount(denials)} denied</Badge>
        </li>
      ))}
    </ul>
  );
}

function NearList({ tenants }: { readonly tenants: readonly TenantRow[] }): ReactNode {
  if (tenants.length === 0) return <Empty title="Everyone has room" icon={<IconGauge size={30} stroke={1.4} aria-hidden />}>No tenant has used {NEAR_PERCENT}% of its month.</Empty>;
  return (
    <ul className={classes.list}>
      {tenants.map((tenant) => (
        <li key={tenant.slug} className={classes.item}>
          <Link to="/tenants/$slug" params={{ slug: tenant.slug }}>{tenant.slug}</Link>
          <UsageBar used={tenant.monthUsed} allowance={tenant.monthAllowance} label={`${tenant.slug}, this month`} />
          <span className={classes.sub}>{tenant.tier}</span>
        </li>
      ))}
    </ul>
  );
}

function EndingList({ overrides }: { readonly overrides: readonly Override[] }): ReactNode {
  if (overrides.length === 0) return <Empty title="Nothing ends soon" icon={<IconHourglassLow size={30} stroke={1.4} aria-hidden />}>No active override has an end.</Empty>;
  return (
    <ul className={classes.list}>
      {overrides.map((override) => (
        <li key={override.id} className={classes.item}>
          <Link to="/tenants/$slug" params={{ slug: override.tenant }}>{override.tenant}</Link>
          <span className={classes.sub} title={override.reason}>{describeSet(override.set).join(', ')}</span>
          {override.until === null ? null : <Time at={override.until} as="relative" />}
        </li>
      ))}
    </ul>
  );
}

function soonest(overrides: readonly Override[]): Override[] {
  return overrides.filter(({ until }) => until !== null).toSorted((a, b) => Date.parse(a.until ?? '') - Date.parse(b.until ?? ''));
}

const endsWithinADay = ({ until }: Override): boolean => until !== null && Date.parse(until) - Date.now() < 86_400_000;

function nearest(tenants: readonly TenantRow[]): TenantRow[] {
  const share = (tenant: TenantRow): number => percentOf(tenant.monthUsed, tenant.monthAllowance) ?? -1;
  return tenants.filter((tenant) => share(tenant) >= NEAR_PERCENT).toSorted((a, b) => share(b) - share(a));
}
