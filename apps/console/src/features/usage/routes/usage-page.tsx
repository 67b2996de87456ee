import { useCallback, useMemo, type ReactNode } from 'react';
import { Button, Select } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { IconDownload, IconReceipt, IconX } from '@tabler/icons-react';
import { urlOf } from '../../../api/client';
import { DataTable } from '../../../components/data-table';
import { Time } from '../../../components/figures';
import layout from '../../../components/layout.module.css';
import { Loaded } from '../../../components/loaded';
import { Empty, StaleMark } from '../../../components/notices';
import { Page, Panel } from '../../../components/page';
import { formatCount } from '../../../format/number';
import { currentUsageQuery, usageListQuery } from '../api/usage.queries';
import { OutagePanel } from '../components/outage-panel';
import { PeriodChart } from '../components/period-chart';
import { sortUsage, usageColumnsOf } from '../components/usage-columns';
import classes from '../components/usage.module.css';
import { usageSearch } from './usage.search';

const route = getRouteApi('/console/usage');

export function UsagePage(): ReactNode {
  const { period = 'current', tenant, sort = '-used' } = usageSearch.parse(route.useSearch());
  const navigate = route.useNavigate();
  const list = useInfiniteQuery(usageListQuery(period));
  const rows = useMemo(() => sortUsage(list.data?.pages.flatMap((page) => page.items) ?? [], sort), [list.data, sort]);
  const columns = useMemo(() => usageColumnsOf(rows), [rows]);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const change = (changed: { period?: string; tenant?: string; sort?: string }): void =>
    void navigate({ to: '.', search: (before) => ({ ...before, ...changed }), replace: true });
  return (
    <Page
      title="Usage"
      lead="Units that guards admitted, as billing reads them: exact, at most 5 seconds old, each period in its tenant’s zone."
      actions={
        <>
          <Select
            aria-label="Period"
            w={200}
            allowDeselect={false}
            data={recentMonths(Date.now())}
            value={period}
            onChange={(value) => change({ period: value === 'current' || value === null ? undefined : value })}
          />
          <Button
            component="a"
            href={urlOf('usageExport', { query: { period, format: 'csv' } })}
            download={`usage-${period}.csv`}
            variant="default"
            leftSection={<IconDownload size={16} />}
          >
            CSV export
          </Button>
        </>
      }
    >
      {tenant === undefined ? null : <TenantUsage tenant={tenant} onClose={() => change({ tenant: undefined })} />}
      <section className={layout.panel} aria-label="Usage" aria-busy={list.isFetching}>
        <Loaded query={list} heightPx={420}>
          {() =>
            rows.length === 0 ? (
              <Empty
                title="No usage in this period"
                icon={<IconReceipt size={32} stroke={1.4} aria-hidden />}
                next={
                  period === 'current' ? undefined : (
                    <Button variant="default" onClick={() => change({ period: undefined })}>
                      Show the running periods
                    </Button>
                  )
                }
              >
                Nothing was admitted in a period that starts in this month. A row appears with a tenant’s first unit.
              </Empty>
            ) : (
              <DataTable
                label="Usage"
                columns={columns}
                rows={rows}
                rowKey={(item) => `${item.tenant} ${item.meter} ${item.period.id}`}
                sort={sort}
                onSort={(value) => change({ sort: value })}
                onEnd={loadMore}
              />
            )
          }
        </Loaded>
        {rows.length > 0 ? (
          <div className={classes.foot}>
            <span>
              {formatCount(rows.length)} shown{hasNextPage ? ', sorted among those; more as you scroll' : ''}
            </span>
            <span className={layout.spring} />
            {rows[0] ? (
              <span>
                as of <Time at={rows[0].asOf} as="relative" />
              </span>
            ) : null}
            <StaleMark error={list.error} updatedAtMs={list.dataUpdatedAt} />
          </div>
        ) : null}
      </section>
      <OutagePanel />
    </Page>
  );
}

function TenantUsage({ tenant, onClose }: { readonly tenant: string; readonly onClose: () => void }): ReactNode {
  const usage = useQuery(currentUsageQuery(tenant));
  return (
    <Panel
      title={`${tenant}, this period`}
      actions={
        <>
          <Link to="/tenants/$slug" params={{ slug: tenant }}>
            Open tenant
          </Link>
          <Button size="compact-sm" variant="subtle" color="gray" aria-label="Close the chart" onClick={onClose}>
            <IconX size={16} />
          </Button>
        </>
      }
    >
      <Loaded query={usage} heightPx={220}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="Nothing used yet">This tenant’s running period has no units.</Empty>
          ) : (
            <div className={layout.stack}>
              {items.map((item) => (
                <PeriodChart key={item.meter} item={item} />
              ))}
            </div>
          )
        }
      </Loaded>
    </Panel>
  );
}

/** The running periods and the last twelve months. */
function recentMonths(nowMs: number): { value: string; label: string }[] {
  const now = new Date(nowMs);
  const months = Array.from({ length: 12 }, (_, back) => {
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1));
    return { value: month.toISOString().slice(0, 7), label: month.toLocaleDateString('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' }) };
  });
  return [{ value: 'current', label: 'Running periods' }, ...months];
}
