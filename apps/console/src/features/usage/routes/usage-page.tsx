import { useCallback, useMemo, useState, type ReactNode } from 'react';
import { Button, Select } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { IconReceipt } from '@tabler/icons-react';
import type { UsageItem } from '@quotaplane/contracts';
import { urlOf } from '../../../api/client';
import { DataTable } from '../../../components/data-table';
import { ExportMenu } from '../../../components/export-menu';
import { Time } from '../../../components/figures';
import layout from '../../../components/layout.module.css';
import { Loaded } from '../../../components/loaded';
import { Empty, StaleMark } from '../../../components/notices';
import { Page } from '../../../components/page';
import { formatCount } from '../../../format/number';
import { CloseLink } from '../../statements/components/close-link';
import { usageListQuery } from '../api/usage.queries';
import { Breakdown } from '../components/breakdown';
import { OutagePanel } from '../components/outage-panel';
import { recentMonths } from '../components/recent-months';
import { sortUsage } from '../components/sort-usage';
import { TenantUsage } from '../components/tenant-usage';
import { Thresholds } from '../components/thresholds';
import { usageColumnsOf, usageKeyOf } from '../components/usage-columns';
import classes from '../components/usage.module.css';
import { usageSearch } from './usage.search';

const route = getRouteApi('/console/usage');

export function UsagePage(): ReactNode {
  const { period = 'current', tenant, sort = '-used' } = usageSearch.parse(route.useSearch());
  const navigate = route.useNavigate();
  const list = useInfiniteQuery(usageListQuery(period));
  const rows = useMemo(() => sortUsage(list.data?.pages.flatMap((page) => page.items) ?? [], sort), [list.data, sort]);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const hasDegraded = rows.some(({ breakdown }) => breakdown.degraded !== '0');
  const columns = useMemo(
    () => usageColumnsOf(hasDegraded, { opened, onToggle: (item) => setOpened((before) => toggled(before, usageKeyOf(item))) }),
    [hasDegraded, opened],
  );
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const change = (changed: { period?: string; tenant?: string; sort?: string }): void =>
    void navigate({ to: '.', search: (before) => ({ ...before, ...changed }), replace: true });
  const months = useMemo(() => [{ value: 'current', label: 'Running periods' }, ...recentMonths(Date.now())], []);
  return (
    <Page
      title="Usage"
      lead="Units by tenant and meter, as billing reads them: exact, at most 5 seconds old, each period in its tenant’s zone."
      actions={
        <>
          <Select
            aria-label="Period"
            w={200}
            allowDeselect={false}
            data={months}
            value={period}
            onChange={(value) => change({ period: value === 'current' || value === null ? undefined : value })}
          />
          <ExportMenu
            of={`${months.find(({ value }) => value === period)?.label ?? period}${tenant === undefined ? '' : ` of ${tenant}`}`}
            fileName={`usage-${period}${tenant === undefined ? '' : `-${tenant}`}`}
            urlAs={(format) => urlOf('usageExport', { query: { period, format, tenant } })}
          />
        </>
      }
    >
      {tenant === undefined ? null : <TenantUsage tenant={tenant} period={period} onClose={() => change({ tenant: undefined })} />}
      <section className={layout.panel} aria-label="Usage" aria-busy={list.isFetching}>
        <Loaded query={list} heightPx={420}>
          {() =>
            rows.length === 0 ? (
              <NoUsage onShowCurrent={period === 'current' ? undefined : () => change({ period: undefined })} />
            ) : (
              <DataTable
                label="Usage"
                columns={columns}
                rows={rows}
                rowKey={usageKeyOf}
                sort={sort}
                onSort={(value) => change({ sort: value })}
                onEnd={loadMore}
                detail={(item) => (opened.has(usageKeyOf(item)) ? <UsageDetail item={item} /> : null)}
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

function toggled(before: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const after = new Set(before);
  if (!after.delete(key)) after.add(key);
  return after;
}

function UsageDetail({ item }: { readonly item: UsageItem }): ReactNode {
  return (
    <div className={classes.detail}>
      <Breakdown item={item} />
      <div className={layout.tight}>
        <Thresholds item={item} />
        <CloseLink item={item} />
      </div>
    </div>
  );
}

function NoUsage({ onShowCurrent }: { readonly onShowCurrent: (() => void) | undefined }): ReactNode {
  return (
    <Empty
      title="No usage in this period"
      icon={<IconReceipt size={32} stroke={1.4} aria-hidden />}
      next={
        onShowCurrent ? (
          <Button variant="default" onClick={onShowCurrent}>
            Show the running periods
          </Button>
        ) : undefined
      }
    >
      Nothing was counted in a period that starts in this month. A row appears with a tenant’s first unit.
    </Empty>
  );
}
