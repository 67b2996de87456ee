import { infiniteQueryOptions, keepPreviousData, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { call } from '../../../api/client';
import { auditKeys } from '../../audit/api/audit.queries';
import { usageKeys } from '../../usage/api/usage.queries';

export interface StatementFilter {
  readonly tenant?: string | undefined;
  /** `2026-11`: periods that start in that month. */
  readonly period?: string | undefined;
}

export const statementKeys = {
  all: ['statements'] as const,
  list: (filter: StatementFilter) => [...statementKeys.all, 'list', filter] as const,
  one: (id: string) => [...statementKeys.all, 'one', id] as const,
  ofTenant: (tenant: string) => [...statementKeys.all, 'tenant', tenant] as const,
  ended: (months: readonly string[], tenant: string | undefined) => [...statementKeys.all, 'ended', months, tenant] as const,
};

/** Newest closing first. */
export const statementListQuery = (filter: StatementFilter) =>
  infiniteQueryOptions({
    queryKey: statementKeys.list(filter),
    queryFn: ({ pageParam, signal }) => call('statementsList', { query: { ...filter, limit: 100, cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  });

/** Its lines never change; adjustments may come. */
export const statementQuery = (id: string) =>
  queryOptions({
    queryKey: statementKeys.one(id),
    queryFn: ({ signal }) => call('statementsGet', { params: { id }, signal }),
    refetchInterval: 15_000,
  });

/** The tenant's statements around one, to step through the chain. */
export const tenantStatementsQuery = (tenant: string) =>
  queryOptions({
    queryKey: statementKeys.ofTenant(tenant),
    queryFn: ({ signal }) => call('statementsList', { query: { tenant, limit: 200 }, signal }),
  });

export const MOST_ENDED = 200;
/** Usage of periods that start in some months, to find those that have ended and wait for their close: oldest first. */
export const endedPeriodsQuery = (months: readonly string[], tenant: string | undefined) =>
  queryOptions({
    queryKey: statementKeys.ended(months, tenant),
    queryFn: async ({ signal }) => {
      const pages = await Promise.all(months.map((period) => call('usageList', { query: { period, tenant, limit: MOST_ENDED }, signal })));
      return { items: pages.flatMap(({ items }) => items.filter(({ status }) => status === 'ended')), isCut: pages.some(({ nextCursor }) => nextCursor !== null) };
    },
    refetchInterval: 15_000,
  });

/** Recomputes from the raw rows: asked for by a person, never by itself. */
export function useVerifyStatements() {
  return useMutation({ mutationFn: (tenant: string | undefined) => call('statementsVerify', { query: { tenant } }) });
}

export function useClosePeriod() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ tenant, period, idempotencyKey }: { tenant: string; period: string; idempotencyKey: string }) =>
      call('periodsClose', { params: { slug: tenant, period }, idempotencyKey }),
    onSuccess: async () => {
      await Promise.all([statementKeys.all, usageKeys.all, auditKeys.all].map((queryKey) => queryClient.invalidateQueries({ queryKey })));
    },
  });
}
