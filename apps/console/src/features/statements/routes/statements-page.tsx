import { useCallback, useMemo, useState, type ReactNode } from 'react';
import { Button, Select, TextInput } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { IconFileCheck } from '@tabler/icons-react';
import { urlOf } from '../../../api/client';
import { SLUG_PATTERN } from '../../../api/contract.facts';
import { DataTable } from '../../../components/data-table';
import { ExportMenu } from '../../../components/export-menu';
import layout from '../../../components/layout.module.css';
import { Loaded } from '../../../components/loaded';
import { Empty, StaleMark } from '../../../components/notices';
import { Page } from '../../../components/page';
import { matching } from '../../../search/checked-search';
import { recentMonths } from '../../usage/components/recent-months';
import { statementListQuery, useVerifyStatements, type StatementFilter } from '../api/statement.queries';
import { EndedPanel } from '../components/ended-panel';
import { statementColumns } from '../components/statement-columns';
import { VerifyButton, VerifyResult } from '../components/verify-statements';
import { statementsSearch } from './statements.search';

const route = getRouteApi('/console/statements');
const readTenant = matching(SLUG_PATTERN);

/** Closed periods of all tenants: what was billed, and whether the stores told the same. */
export function StatementsPage(): ReactNode {
  const filter = statementsSearch.parse(route.useSearch());
  const navigate = route.useNavigate();
  const list = useInfiniteQuery(statementListQuery(filter));
  const rows = useMemo(() => list.data?.pages.flatMap((page) => page.items) ?? [], [list.data]);
  const months = useMemo(() => recentMonths(Date.now()), []);
  const verify = useVerifyStatements();
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const change = (changed: StatementFilter): void => void navigate({ to: '.', search: (before) => ({ ...before, ...changed }), replace: true });
  const isFiltered = filter.tenant !== undefined || filter.period !== undefined;
  // A month that runs has periods that have ended already: anchors, and zones ahead.
  const endedIn = filter.period === undefined ? months.slice(0, 2).map(({ value }) => value).reverse() : [filter.period];
  const exported = filter.period ?? months[1]?.value ?? '';
  return (
    <Page
      title="Statements"
      lead="Closed periods, for the bill. A statement never changes; each carries the hash of the one before it."
      actions={
        <>
          <VerifyButton verify={verify} tenant={filter.tenant} />
          <ExportMenu
            of={`Statement lines of ${months.find(({ value }) => value === exported)?.label ?? exported}`}
            fileName={`statements-${exported}`}
            urlAs={(format) => urlOf('statementsExport', { query: { period: exported, format, tenant: filter.tenant } })}
          />
        </>
      }
    >
      <VerifyResult verify={verify} />
      <Filters key={filter.tenant ?? ''} filter={filter} months={months} onChange={change} />
      <EndedPanel months={endedIn} tenant={filter.tenant} />
      <section className={layout.panel} aria-label="Statements" aria-busy={list.isFetching && list.isPlaceholderData}>
        <Loaded query={list} heightPx={360}>
          {() =>
            rows.length === 0 ? (
              <Empty
                title={isFiltered ? 'No statement matches' : 'No statements yet'}
                icon={<IconFileCheck size={32} stroke={1.4} aria-hidden />}
                next={
                  isFiltered ? (
                    <Button variant="default" onClick={() => change({ tenant: undefined, period: undefined })}>
                      Show all
                    </Button>
                  ) : undefined
                }
              >
                A period closes by itself a day after it ends. Until then its figures stand on the usage page.
              </Empty>
            ) : (
              <DataTable label="Statements" columns={statementColumns} rows={rows} rowKey={({ id }) => id} onEnd={loadMore} />
            )
          }
        </Loaded>
      </section>
      <StaleMark error={list.error} updatedAtMs={list.dataUpdatedAt} />
    </Page>
  );
}

interface FiltersProps {
  readonly filter: StatementFilter;
  readonly months: readonly { readonly value: string; readonly label: string }[];
  readonly onChange: (filter: StatementFilter) => void;
}

/** The tenant is applied on Enter, for half a name finds nobody. */
function Filters({ filter, months, onChange }: FiltersProps): ReactNode {
  const [typed, setTyped] = useState(filter.tenant ?? '');
  const wanted = typed.trim();
  const isWrong = wanted !== '' && readTenant(wanted) === undefined;
  return (
    <form
      className={layout.toolbar}
      style={{ alignItems: 'flex-end' }}
      aria-label="Filter"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isWrong) onChange({ tenant: wanted || undefined });
      }}
    >
      <TextInput label="Tenant" placeholder="all" value={typed} error={isWrong ? 'a slug such as acme' : undefined} onChange={({ currentTarget }) => setTyped(currentTarget.value)} />
      <Select
        label="Period starts in"
        placeholder="any month"
        clearable
        clearButtonProps={{ 'aria-label': 'Any month' }}
        data={[...months]}
        value={filter.period ?? null}
        onChange={(period) => onChange({ period: period ?? undefined })}
      />
      <Button type="submit" variant="default">
        Filter
      </Button>
    </form>
  );
}
