import { infiniteQueryOptions, keepPreviousData, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type { Override, OverrideCreate } from '@quotaplane/contracts';
import { call } from '../../../api/client';
import { auditKeys } from '../../audit/api/audit.queries';
import { tenantKeys } from '../../tenants/api/tenant.queries';

export interface OverrideFilter {
  readonly state?: Override['state'] | undefined;
  readonly tenant?: string | undefined;
  /** `single`, `key:<id>`, `user:<id>` or `ip:<address>`. */
  readonly subject?: string | undefined;
}

export const overrideKeys = {
  all: ['overrides'] as const,
  ofTenant: (tenant: string) => [...overrideKeys.all, 'tenant', tenant] as const,
  list: (filter: OverrideFilter) => [...overrideKeys.all, 'list', filter] as const,
  active: () => [...overrideKeys.all, 'active'] as const,
};

/** Those of the tenant as a whole. Asked again every few seconds: an override starts and ends by the clock alone. */
export const tenantOverridesQuery = (tenant: string) =>
  queryOptions({
    queryKey: overrideKeys.ofTenant(tenant),
    queryFn: ({ signal }) => call('overridesList', { query: { tenant, subject: 'tenant', limit: 50 }, signal }),
    refetchInterval: 5000,
  });

export const activeOverridesQuery = queryOptions({
  queryKey: overrideKeys.active(),
  queryFn: ({ signal }) => call('overridesList', { query: { state: 'active', limit: 200 }, signal }),
  refetchInterval: 10_000,
});

/** Newest first; of every tenant, subject and state where none is named. */
export const overrideListQuery = (filter: OverrideFilter) =>
  infiniteQueryOptions({
    queryKey: overrideKeys.list(filter),
    queryFn: ({ pageParam, signal }) => call('overridesList', { query: { ...filter, limit: 100, cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
  });

export function useCreateOverride() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: ({ body, idempotencyKey }: { body: OverrideCreate; idempotencyKey: string }) => call('overridesCreate', { body, idempotencyKey }),
    onSuccess: refresh,
  });
}

export function useRevertOverride() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: ({ override, reason }: { override: Pick<Override, 'id'>; reason: string }) =>
      call('overridesRevert', { params: { id: override.id }, body: { reason } }),
    onSuccess: refresh,
  });
}

function useRefresh() {
  const queryClient = useQueryClient();
  return async (): Promise<void> => {
    await Promise.all([overrideKeys.all, tenantKeys.all, auditKeys.all].map((queryKey) => queryClient.invalidateQueries({ queryKey })));
  };
}
