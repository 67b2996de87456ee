import { infiniteQueryOptions, keepPreviousData, useMutation, useQueryClient } from '@tanstack/react-query';
import type { ListEntryState } from '@quotaplane/contracts';
import { call } from '../../../api/client';
import { auditKeys } from '../../audit/api/audit.queries';
import { entryOf, penaltyOf, type Listed, type NewEntry } from '../components/listed';

export const listKeys = {
  all: ['lists'] as const,
  page: (list: Listed['list'], state: ListEntryState | undefined) => [...listKeys.all, list, state] as const,
};

/** One list, in the order of the API: what runs by itself first, then newest first. Asked again often, for bans come and go by themselves. */
export const listedQuery = (list: Listed['list'], state: ListEntryState | undefined) =>
  infiniteQueryOptions({
    queryKey: listKeys.page(list, state),
    queryFn: async ({ pageParam, signal }): Promise<{ items: Listed[]; nextCursor: string | null }> => {
      const query = { state, limit: 100, cursor: pageParam };
      if (list === 'penalty') {
        const page = await call('penaltiesList', { query, signal });
        return { ...page, items: page.items.map(penaltyOf) };
      }
      const page = await call('listsList', { query: { ...query, list }, signal });
      return { ...page, items: page.items.map(entryOf) };
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: 5_000,
  });

export function useCreateEntry() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: ({ entry: { list, until, ...rest }, idempotencyKey }: { entry: NewEntry; idempotencyKey: string }): Promise<{ changeId: string }> =>
      list === 'penalty'
        ? call('penaltiesCreate', { body: { ...rest, until: until ?? '' }, idempotencyKey })
        : call('listsCreate', { body: { ...rest, list, ...(until === undefined ? {} : { until }) }, idempotencyKey }),
    onSuccess: refresh,
  });
}

export function useLift() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: ({ listed: { list, id, version }, reason }: { listed: Listed; reason: string }): Promise<{ changeId: string }> =>
      call(list === 'penalty' ? 'penaltiesDelete' : 'listsDelete', { params: { id }, query: { reason }, ifVersion: version }),
    onSuccess: refresh,
  });
}

function useRefresh() {
  const queryClient = useQueryClient();
  return async (): Promise<void> => {
    await Promise.all([listKeys.all, auditKeys.all].map((queryKey) => queryClient.invalidateQueries({ queryKey })));
  };
}
