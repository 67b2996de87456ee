import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type { TopUp, topUpCreate } from '@quotaplane/contracts';
import type { z } from 'zod';
import { call } from '../../../api/client';
import { auditKeys } from '../../audit/api/audit.queries';
import { tenantKeys } from '../../tenants/api/tenant.queries';
import { usageKeys } from '../../usage/api/usage.queries';

export type NewTopUp = z.output<typeof topUpCreate>;

export const topUpKeys = {
  all: ['top-ups'] as const,
  ofTenant: (tenant: string) => [...topUpKeys.all, 'tenant', tenant] as const,
};

/** Newest first. Asked again every few seconds: a grant starts, is spent and ends by itself. */
export const tenantTopUpsQuery = (tenant: string) =>
  queryOptions({
    queryKey: topUpKeys.ofTenant(tenant),
    queryFn: ({ signal }) => call('topUpsList', { params: { slug: tenant }, query: { limit: 50 }, signal }),
    refetchInterval: 5000,
  });

export function useCreateTopUp() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: ({ tenant, body, idempotencyKey }: { tenant: string; body: NewTopUp; idempotencyKey: string }) =>
      call('topUpsCreate', { params: { slug: tenant }, body, idempotencyKey }),
    onSuccess: refresh,
  });
}

export function useWithdrawTopUp() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: ({ topUp: { tenant, id, version }, reason }: { topUp: Pick<TopUp, 'tenant' | 'id' | 'version'>; reason: string }) =>
      call('topUpsDelete', { params: { slug: tenant, id }, query: { reason }, ifVersion: version }),
    onSuccess: refresh,
  });
}

function useRefresh() {
  const queryClient = useQueryClient();
  return async (): Promise<void> => {
    await Promise.all([topUpKeys.all, tenantKeys.all, usageKeys.all, auditKeys.all].map((queryKey) => queryClient.invalidateQueries({ queryKey })));
  };
}
