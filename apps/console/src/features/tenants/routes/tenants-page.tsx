import { useCallback, useMemo, useState, type ReactNode } from 'react';
import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { IconDownload, IconPlus, IconUsers } from '@tabler/icons-react';
import type { TenantRow } from '@quotaplane/contracts';
import { DataTable } from '../../../components/data-table';
import layout from '../../../components/layout.module.css';
import { Loaded } from '../../../components/loaded';
import { Empty, StaleMark } from '../../../components/notices';
import { onDemand } from '../../../components/on-demand';
import { Page } from '../../../components/page';
import { downloadText, toCsv } from '../../../format/csv';
import { formatCount } from '../../../format/number';
import { useCan } from '../../session/api/session.queries';
import { tenantListQuery } from '../api/tenant.queries';
import { tenantColumns } from '../components/tenant-columns';
import { TenantFilters } from '../components/tenant-filters';
import classes from '../components/tenants.module.css';
import { tenantsSearch, type TenantsSearch } from './tenants.search';

const route = getRouteApi('/console/tenants');
const CreateTenant = onDemand(async () => (await import('../components/create-tenant')).CreateTenant, ({ isOpen }) => isOpen);

export function TenantsPage(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const filter = tenantsSearch.parse(search);
  const list = useInfiniteQuery(tenantListQuery(filter));
  const rows = useMemo(() => list.data?.pages.flatMap((page) => page.items) ?? [], [list.data]);
  const [isCreating, setCreating] = useState(false);
  const mayWrite = useCan('tenants:write');
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const change = (changed: Partial<TenantsSearch>): void =>
    void navigate({ to: '.', search: (before) => ({ ...before, ...changed }), replace: true });
  const isFiltered = filter.q !== undefined || filter.tier !== undefined || filter.status !== undefined;

  return (
    <Page
      title="Tenants"
      lead="Every customer, what their tier gives them and how much of it they use."
      actions={
        <>
          <Button
            variant="default"
            leftSection={<IconDownload size={16} />}
            disabled={rows.length === 0}
            onClick={() => downloadText('tenants.csv', tenantCsv(rows))}
          >
            CSV of these {formatCount(rows.length)}
          </Button>
          {mayWrite ? (
            <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
              New tenant
            </Button>
          ) : null}
        </>
      }
    >
      <TenantFilters search={filter} onChange={change} />
      <section className={layout.panel} aria-label="Tenants" aria-busy={list.isFetching}>
        <Loaded query={list} heightPx={420}>
          {() =>
            rows.length === 0 ? (
              <Empty
                title={isFiltered ? 'No tenant matches' : 'No tenants yet'}
                icon={<IconUsers size={32} stroke={1.4} aria-hidden />}
                next={
                  isFiltered ? (
                    <Button variant="default" onClick={() => change({ q: undefined, tier: undefined, status: undefined })}>
                      Clear the filters
                    </Button>
                  ) : undefined
                }
              >
                {isFiltered
                  ? 'The search looks at slugs and names. Clear a filter or try fewer letters.'
                  : 'Create the first one, or let your sign-up create it through POST /v1/tenants.'}
              </Empty>
            ) : (
              <DataTable
                label="Tenants"
                columns={tenantColumns}
                rows={rows}
                rowKey={(tenant) => tenant.slug}
                sort={filter.sort ?? 'slug'}
                onSort={(sort) => change(tenantsSearch.parse({ sort }))}
                onEnd={loadMore}
              />
            )
          }
        </Loaded>
        {rows.length > 0 ? (
          <div className={classes.foot}>
            <span>
              {formatCount(rows.length)} shown{list.hasNextPage ? ', more as you scroll' : ''}
            </span>
            {list.hasNextPage ? (
              <Button size="compact-xs" variant="subtle" loading={list.isFetchingNextPage} onClick={loadMore}>
                Load more
              </Button>
            ) : null}
            <span className={layout.spring} />
            <StaleMark error={list.error} updatedAtMs={list.dataUpdatedAt} />
          </div>
        ) : null}
      </section>
      <CreateTenant isOpen={isCreating} onClose={() => setCreating(false)} />
    </Page>
  );
}

function tenantCsv(rows: readonly TenantRow[]): string {
  return toCsv(
    ['slug', 'name', 'tier', 'status', 'timezone', 'month_used', 'month_allowance', 'denied_last_hour', 'active_overrides'],
    rows.map((row) => [
      row.slug,
      row.name,
      row.tier,
      row.status,
      row.timezone,
      row.monthUsed,
      row.monthAllowance,
      row.deniedLastHour,
      row.activeOverrides,
    ]),
  );
}
