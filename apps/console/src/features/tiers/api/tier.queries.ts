import { queryOptions } from '@tanstack/react-query';
import { call } from '../../../api/client';

export const tierKeys = {
  all: ['tiers'] as const,
  list: () => [...tierKeys.all, 'list'] as const,
  one: (slug: string) => [...tierKeys.all, 'one', slug] as const,
  detail: (slug: string) => [...tierKeys.one(slug), 'detail'] as const,
  draft: (slug: string) => [...tierKeys.one(slug), 'draft'] as const,
  versions: (slug: string) => [...tierKeys.one(slug), 'versions'] as const,
};

export const tierListQuery = queryOptions({
  queryKey: tierKeys.list(),
  queryFn: ({ signal }) => call('tiersList', { query: { limit: 200 }, signal }),
  staleTime: 30_000,
});

export const tierQuery = (slug: string) =>
  queryOptions({
    queryKey: tierKeys.detail(slug),
    queryFn: ({ signal }) => call('tiersGet', { params: { slug }, signal }),
  });

export const tierDraftQuery = (slug: string) =>
  queryOptions({
    queryKey: tierKeys.draft(slug),
    queryFn: ({ signal }) => call('tierDraftGet', { params: { slug }, signal }),
    // A refresh under the editor would be a surprise; the version check catches a colleague's edit.
    refetchOnWindowFocus: false,
  });

export const tierVersionsQuery = (slug: string) =>
  queryOptions({
    queryKey: tierKeys.versions(slug),
    queryFn: ({ signal }) => call('tierVersionsList', { params: { slug }, query: { limit: 50 }, signal }),
  });
