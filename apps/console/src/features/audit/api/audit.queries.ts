import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { call } from '../../../api/client';

export interface AuditFilter {
  readonly tenant?: string;
  readonly entity?: string;
  readonly actor?: string;
  readonly action?: string;
  readonly from?: string;
  readonly to?: string;
}

export const auditKeys = {
  all: ['audit'] as const,
  list: (filter: AuditFilter) => [...auditKeys.all, 'list', filter] as const,
  tail: (tenant: string) => [...auditKeys.all, 'tail', tenant] as const,
  verification: () => [...auditKeys.all, 'verification'] as const,
};

export const auditListQuery = (filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: auditKeys.list(filter),
    queryFn: ({ pageParam, signal }) => call('auditList', { query: { ...filter, limit: 50, cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  });

export const auditTailQuery = (tenant: string) =>
  queryOptions({
    queryKey: auditKeys.tail(tenant),
    queryFn: ({ signal }) => call('auditList', { query: { tenant, limit: 8 }, signal }),
  });

export const auditVerificationQuery = queryOptions({
  queryKey: auditKeys.verification(),
  queryFn: ({ signal }) => call('auditVerify', { signal }),
  staleTime: 60_000,
});
