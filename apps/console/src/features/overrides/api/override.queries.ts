import { infiniteQueryOptions, keepPreviousData, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type { Override, OverrideCreate } from '@quotaplane/contracts';
import { call } from '../../../api/client';
import { auditKeys } from '../../audit/api/audit.queries';
import { tenantKeys } from '../../tenants/api/tenant.queries';

export const overrideKeys = {
  all: ['overrides'] as const,
  ofTenant: (tenant: string) => [...overrideKeys.all, 'tenant', tenant] as const,
  list: (state: Override['state'] | undefined) => [...overrideKeys.all, 'list', state] as const,
  active: () => [...overrideKeys.all, 'active'] as const,
};

/** Asked again every few seconds: an override starts and ends by the clock alone. */
export const tenantOverridesQuery = (tenant: string) =>
  queryOptions({
    queryKey: overrideKeys.ofTenant(tenant),
    queryFn: ({ signal }) => call('overridesList', { query: { tenant, limit: 50 }, signal }),
    refetchInterval: 5000,
  });

export const activeOverridesQuery = queryOptions({
  queryKey: overrideKeys.active(),
  queryFn: ({ signal }) => call('overridesList', { query: { state: 'active', limit: 200 }, signal }),
  refetchInterval: 10_000,
});

/** Everyone's, newest first; of every state where none is named. */
export const overrideListQuery = (state: Override['state'] | undefined) =>
  infiniteQueryOptions({
    queryKey: overrideKeys.list(state),
    queryFn: ({ pageParam, signal }) => call('overridesList', { query: { state, limit: 100, cursor: pageParam }, signal }),
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
