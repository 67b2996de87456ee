import { useCallback, useMemo, useState, type ReactNode } from 'react';
import { Button, SegmentedControl } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { IconPlus, IconShieldCheck } from '@tabler/icons-react';
import { DataTable } from '../../../components/data-table';
import layout from '../../../components/layout.module.css';
import { Loaded } from '../../../components/loaded';
import { Empty, StaleMark } from '../../../components/notices';
import { onDemand } from '../../../components/on-demand';
import { Page } from '../../../components/page';
import { useCan } from '../../session/api/session.queries';
import { listedQuery } from '../api/list.queries';
import type { EntryValues } from '../components/entry-values';
import { LIST_EFFECTS, LIST_NAMES, type Listed } from '../components/listed';
import { listedColumns } from '../components/listed-columns';
import { LIST_VIEWS, listsSearch } from './lists.search';

const EntryDialog = onDemand(async () => (await import('../components/entry-dialog')).EntryDialog, ({ start }) => start !== undefined);
const LiftDialog = onDemand(async () => (await import('../components/lift-dialog')).LiftDialog, ({ listed }) => listed !== undefined);

const route = getRouteApi('/console/lists');
const LIST_WORDS = { penalty: 'Penalties', deny: 'Deny list', allow: 'Allow list' } as const;
const VIEW_WORDS = { active: 'Running', scheduled: 'To come', ended: 'Ended', lifted: 'Lifted', all: 'All' } as const;

/** Who is held back, kept out or let through, whatever their limits say; and the way back. */
export function ListsPage(): ReactNode {
  const { list = 'penalty', state = 'active' } = listsSearch.parse(route.useSearch());
  const navigate = route.useNavigate();
  const writable = useWritableLists();
  const [lifting, setLifting] = useState<Listed>();
  const [start, setStart] = useState<Partial<EntryValues>>();
  const listed = useInfiniteQuery(listedQuery(list, state === 'all' ? undefined : state));
  const rows = useMemo(() => listed.data?.pages.flatMap((page) => page.items) ?? [], [listed.data]);
  const columns = useMemo(() => listedColumns(writable.includes(list) ? setLifting : undefined), [writable, list]);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = listed;
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const show = (search: { list?: string; state?: string }): void =>
    void navigate({ to: '.', search: (before) => ({ ...before, ...listsSearch.parse({ list, state, ...search }) }), replace: true });
  return (
    <Page
      title="Lists & penalties"
      lead="Who is held back, kept out or let through, whatever their limits say. Live on every node within two seconds."
      actions={
        writable.length > 0 ? (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setStart({ list: writable.includes(list) ? list : (writable[0] ?? 'penalty') })}>
            New entry
          </Button>
        ) : null
      }
    >
      <div className={layout.toolbar}>
        <SegmentedControl
          aria-label="List"
          size="sm"
          value={list}
          data={LIST_NAMES.map((each) => ({ value: each, label: LIST_WORDS[each] }))}
          onChange={(value) => show({ list: value })}
        />
        <span className={layout.spring} />
        <SegmentedControl
          aria-label="State"
          size="sm"
          value={state}
          data={orderedViews.map((each) => ({ value: each, label: VIEW_WORDS[each] }))}
          onChange={(value) => show({ state: value })}
        />
      </div>
      <section className={layout.panel} aria-label={LIST_WORDS[list]} aria-busy={listed.isFetching && listed.isPlaceholderData}>
        <Loaded query={listed} heightPx={360}>
          {() =>
            rows.length === 0 ? (
              <Empty title={EMPTY_WORDS[list]} icon={<IconShieldCheck size={32} stroke={1.4} aria-hidden />}>
                {LIST_EFFECTS[list]} {list === 'penalty' ? 'A limit with a penalty of its own adds bans here by itself.' : ''}
              </Empty>
            ) : (
              <DataTable label={LIST_WORDS[list]} columns={columns} rows={rows} rowKey={({ id }) => id} onEnd={loadMore} />
            )
          }
        </Loaded>
      </section>
      <StaleMark error={listed.error} updatedAtMs={listed.dataUpdatedAt} />
      <LiftDialog listed={lifting} onClose={() => setLifting(undefined)} />
      <EntryDialog start={start} lists={writable} onClose={() => setStart(undefined)} />
    </Page>
  );
}

const orderedViews = ['active', ...LIST_VIEWS.filter((each) => each !== 'active')] as const;
const EMPTY_WORDS = { penalty: 'Nobody is penalised', deny: 'Nobody is on the deny list', allow: 'Nobody is on the allow list' } as const;

function useWritableLists(): readonly Listed['list'][] {
  const mayPenalise = useCan('penalties:write');
  const mayList = useCan('lists:write');
  return useMemo(() => LIST_NAMES.filter((each) => (each === 'penalty' ? mayPenalise : mayList)), [mayPenalise, mayList]);
}
