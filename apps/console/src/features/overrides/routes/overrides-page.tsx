import { useCallback, useMemo, useState, type ReactNode } from 'react';
import { SegmentedControl } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { IconTrendingUp } from '@tabler/icons-react';
import type { Override } from '@quotaplane/contracts';
import { DataTable } from '../../../components/data-table';
import layout from '../../../components/layout.module.css';
import { Loaded } from '../../../components/loaded';
import { Empty, StaleMark } from '../../../components/notices';
import { onDemand } from '../../../components/on-demand';
import { Page } from '../../../components/page';
import { useCan } from '../../session/api/session.queries';
import { overrideListQuery } from '../api/override.queries';
import { overrideColumns } from '../components/override-columns';
import { OverrideFilters } from '../components/override-filters';
import { OVERRIDE_VIEWS, overridesSearch } from './overrides.search';

const route = getRouteApi('/console/overrides');
const RevertDialog = onDemand(async () => (await import('../components/revert-dialog')).RevertDialog, ({ override }) => override !== undefined);
const VIEW_WORDS = { active: 'Active', scheduled: 'Scheduled', ended: 'Ended', reverted: 'Reverted', all: 'All' } as const;

/** Overrides of all tenants: who has more than their tier gives, until when, and the way back. */
export function OverridesPage(): ReactNode {
  const { state = 'active', tenant, subject } = overridesSearch.parse(route.useSearch());
  const navigate = route.useNavigate();
  const mayWrite = useCan('overrides:write');
  const [reverting, setReverting] = useState<Override>();
  const list = useInfiniteQuery(overrideListQuery({ state: state === 'all' ? undefined : state, tenant, subject }));
  const rows = useMemo(() => list.data?.pages.flatMap((page) => page.items) ?? [], [list.data]);
  const columns = useMemo(() => overrideColumns(mayWrite ? setReverting : undefined), [mayWrite]);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  return (
    <Page
      title="Overrides"
      lead="Who has other numbers than their tier gives, until when, and why."
      actions={
        <SegmentedControl
          aria-label="State"
          size="sm"
          value={state}
          data={OVERRIDE_VIEWS.map((each) => ({ value: each, label: VIEW_WORDS[each] }))}
          onChange={(value) => void navigate({ to: '.', search: (before) => ({ ...before, state: overridesSearch.parse({ state: value }).state }), replace: true })}
        />
      }
    >
      <OverrideFilters
        key={`${tenant ?? ''} ${subject ?? ''}`}
        tenant={tenant}
        subject={subject}
        onChange={(filter) => void navigate({ to: '.', search: (before) => ({ ...before, ...filter }), replace: true })}
      />
      <section className={layout.panel} aria-label="Overrides" aria-busy={list.isFetching && list.isPlaceholderData}>
        <Loaded query={list} heightPx={360}>
          {() =>
            rows.length === 0 ? (
              <Empty title={state === 'all' ? 'No overrides' : `No ${state} overrides`} icon={<IconTrendingUp size={32} stroke={1.4} aria-hidden />}>
                Raise a limit on a tenant’s page, or press Ctrl K and type “raise”. It shows here with its end.
              </Empty>
            ) : (
              <DataTable label="Overrides" columns={columns} rows={rows} rowKey={(override) => override.id} onEnd={loadMore} />
            )
          }
        </Loaded>
      </section>
      <StaleMark error={list.error} updatedAtMs={list.dataUpdatedAt} />
      <RevertDialog override={reverting} onClose={() => setReverting(undefined)} />
    </Page>
  );
}
