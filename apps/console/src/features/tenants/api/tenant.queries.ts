import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { TENANT_SORTS, TenantStatus, tierPreviewQuery } from '@quotaplane/contracts';
import type { z } from 'zod';
import { call } from '../../../api/client';

export interface TenantFilter {
  readonly q?: string;
  readonly tier?: string;
  readonly status?: TenantStatus;
  readonly sort?: (typeof TENANT_SORTS)[number];
}

export type TierMove = z.output<typeof tierPreviewQuery>;

export const tenantKeys = {
  all: ['tenants'] as const,
  list: (filter: TenantFilter) => [...tenantKeys.all, 'list', filter] as const,
  near: () => [...tenantKeys.all, 'near-quota'] as const,
  search: (text: string) => [...tenantKeys.all, 'search', text] as const,
  one: (slug: string) => [...tenantKeys.all, 'one', slug] as const,
  detail: (slug: string) => [...tenantKeys.one(slug), 'detail'] as const,
  policy: (slug: string) => [...tenantKeys.one(slug), 'policy'] as const,
  tierPreview: (slug: string, move: TierMove) => [...tenantKeys.one(slug), 'tier-preview', move] as const,
  keys: (slug: string) => [...tenantKeys.one(slug), 'keys'] as const,
};

export const tenantListQuery = (filter: TenantFilter) =>
  infiniteQueryOptions({
    queryKey: tenantKeys.list(filter),
    queryFn: ({ pageParam, signal }) => call('tenantsList', { query: { ...filter, limit: 100, cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  });

/** The heaviest users of this month; whoever is near their allowance is among them unless allowances differ wildly. */
export const nearQuotaQuery = queryOptions({
  queryKey: tenantKeys.near(),
  queryFn: ({ signal }) => call('tenantsList', { query: { sort: '-monthUsed', limit: 200 }, signal }),
  refetchInterval: 15_000,
});

export const tenantQuery = (slug: string) =>
  queryOptions({
    queryKey: tenantKeys.detail(slug),
    queryFn: ({ signal }) => call('tenantsGet', { params: { slug }, signal }),
  });

/** Effective limits; asked again every few seconds, because an override ends by itself. */
export const tenantPolicyQuery = (slug: string) =>
  queryOptions({
    queryKey: tenantKeys.policy(slug),
    queryFn: ({ signal }) => call('tenantPolicyGet', { params: { slug }, signal }),
    refetchInterval: 5000,
  });

/** Quotas before and after a move to another tier, as of now. What was read for another choice stays until the answer is there. */
export const tierPreviewOf = (slug: string, move: TierMove) =>
  queryOptions({
    queryKey: tenantKeys.tierPreview(slug, move),
    queryFn: ({ signal }) => call('tenantTierPreview', { params: { slug }, query: move, signal }),
    placeholderData: keepPreviousData,
    staleTime: 0,
  });

export const tenantKeysQuery = (slug: string) =>
  queryOptions({
    queryKey: tenantKeys.keys(slug),
    queryFn: ({ signal }) => call('keysList', { params: { slug }, query: { limit: 200 }, signal }),
  });

/** The first few tenants that fit the words, for the palette. */
export const tenantSearchQuery = (text: string, count: number) =>
  queryOptions({
    queryKey: tenantKeys.search(text),
    queryFn: ({ signal }) => call('tenantsList', { query: { q: text || undefined, limit: count }, signal }),
  });
