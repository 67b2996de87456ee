import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { IconGauge, IconServer2, IconShieldExclamation, IconTrendingUp } from '@tabler/icons-react';
import type { Override, TenantRow } from '@quotaplane/contracts';
import layout from '../../../components/layout.module.css';
import { Loaded } from '../../../components/loaded';
import { StaleMark } from '../../../components/notices';
import { Page, Panel } from '../../../components/page';
import { formatCount, percentOf, plural } from '../../../format/number';
import { offendersQuery } from '../../offenders/api/offender.queries';
import { activeOverridesQuery } from '../../overrides/api/override.queries';
import { liveFirst, nodesQuery } from '../../rollout/api/rollout.queries';
import { nearQuotaQuery } from '../../tenants/api/tenant.queries';
import { EndingList, NearList, NodeList, OffenderList } from '../components/overview-lists';
import { Tile } from '../components/tile';

const NEAR_PERCENT = 80;
const SHOWN = 6;

export function OverviewPage(): ReactNode {
  const nodes = useQuery(nodesQuery);
  const offenders = useQuery(offendersQuery(15, { count: 50 }));
  const overrides = useQuery(activeOverridesQuery);
  const tenants = useQuery(nearQuotaQuery);
  const alive = nodes.data?.items.filter((node) => node.alive) ?? [];
  const degraded = alive.filter((node) => node.mode === 'degraded').length;
  const silent = (nodes.data?.items.length ?? 0) - alive.length;
  const denials = offenders.data?.items.reduce((sum, { denials: count }) => sum + count, 0) ?? 0;
  const ending = soonest(overrides.data?.items ?? []);
  const near = nearest(tenants.data?.items ?? []);
  return (
    <Page
      title="Overview"
      lead="What needs a look right now."
      actions={<StaleMark error={nodes.error ?? offenders.error} updatedAtMs={nodes.dataUpdatedAt} />}
    >
      <div className={layout.tiles}>
        <Tile
          to="/nodes"
          icon={IconServer2}
          name="Nodes alive"
          value={nodes.data ? formatCount(alive.length) + (silent > 0 ? ` of ${formatCount(nodes.data.items.length)}` : '') : '…'}
          note={nodes.data ? nodesNote({ alive: alive.length, silent, degraded }) : '…'}
          isWarning={nodes.data !== undefined && (alive.length === 0 || silent + degraded > 0)}
        />
        <Tile
          to="/offenders"
          icon={IconShieldExclamation}
          name="Denials, last 15 min"
          value={offenders.data ? formatCount(denials) : '…'}
          note={plural(offenders.data?.items.length ?? 0, 'subject')}
        />
        <Tile
          to="/tenants"
          search={{ sort: '-monthUsed' }}
          icon={IconGauge}
          name="Near or past their quota"
          value={tenants.data ? formatCount(near.length) : '…'}
          note={`at ${NEAR_PERCENT}% of the month or more`}
        />
        <Tile
          to="/overrides"
          icon={IconTrendingUp}
          name="Active overrides"
          value={overrides.data ? `${formatCount(overrides.data.items.length)}${overrides.data.nextCursor === null ? '' : '+'}` : '…'}
          note={endingNote(ending.filter(endsWithinADay).length)}
        />
      </div>
      <div className={layout.halves}>
        <div className={layout.stack}>
          <Panel title="Offenders now" isFlush note="last 15 min" actions={<Link to="/offenders">All offenders</Link>}>
            <Loaded query={offenders}>{({ items }) => <OffenderList offenders={items.slice(0, SHOWN)} />}</Loaded>
          </Panel>
          <Panel title="Overrides ending soon" isFlush actions={<Link to="/overrides">All overrides</Link>}>
            <Loaded query={overrides}>{() => <EndingList overrides={ending.slice(0, SHOWN)} />}</Loaded>
          </Panel>
        </div>
        <div className={layout.stack}>
          <Panel
            title="Near their quota"
            isFlush
            note="this period"
            actions={
              <Link to="/tenants" search={{ sort: '-monthUsed' }}>
                All tenants
              </Link>
            }
          >
            <Loaded query={tenants}>{() => <NearList tenants={near.slice(0, SHOWN)} nearPercent={NEAR_PERCENT} />}</Loaded>
          </Panel>
          <Panel title="Nodes" isFlush actions={<Link to="/nodes">All nodes</Link>}>
            <Loaded query={nodes}>{({ items }) => <NodeList nodes={liveFirst(items).slice(0, SHOWN)} />}</Loaded>
          </Panel>
        </div>
      </div>
    </Page>
  );
}

function nodesNote({ alive, silent, degraded }: { readonly alive: number; readonly silent: number; readonly degraded: number }): string {
  const troubles = [...(silent > 0 ? [`${formatCount(silent)} silent`] : []), ...(degraded > 0 ? [`${formatCount(degraded)} degraded`] : [])];
  return troubles.length > 0 ? troubles.join(', ') : alive === 0 ? 'no guard has reported' : 'all healthy';
}

const endingNote = (count: number): string => (count === 1 ? '1 ends within 24 h' : `${formatCount(count)} end within 24 h`);

function soonest(overrides: readonly Override[]): Override[] {
  return overrides.filter(({ until }) => until !== null).toSorted((a, b) => Date.parse(a.until ?? '') - Date.parse(b.until ?? ''));
}

const endsWithinADay = ({ until }: Override): boolean => until !== null && Date.parse(until) - Date.now() < 86_400_000;

function nearest(tenants: readonly TenantRow[]): TenantRow[] {
  const share = (tenant: TenantRow): number => percentOf(tenant.monthUsed, tenant.monthAllowance) ?? -1;
  return tenants.filter((tenant) => share(tenant) >= NEAR_PERCENT).toSorted((a, b) => share(b) - share(a));
}
