import { infiniteQueryOptions, keepPreviousData, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type { EventType, Webhook, webhookCreate, webhookPatch, WebhookDelivery } from '@quotaplane/contracts';
import type { z } from 'zod';
import { call } from '../../../api/client';
import { auditKeys } from '../../audit/api/audit.queries';

export interface DeliveryFilter {
  readonly state?: WebhookDelivery['state'] | undefined;
  readonly type?: EventType | undefined;
}

export const webhookKeys = {
  all: ['webhooks'] as const,
  list: () => [...webhookKeys.all, 'list'] as const,
  one: (id: string) => [...webhookKeys.all, 'one', id] as const,
  deliveries: (id: string, filter: DeliveryFilter) => [...webhookKeys.one(id), 'deliveries', filter] as const,
};

const LIVE_MS = 5000;

export const webhooksQuery = queryOptions({
  queryKey: webhookKeys.list(),
  queryFn: ({ signal }) => call('webhooksList', { query: { limit: 200 }, signal }),
  refetchInterval: LIVE_MS,
});

export const webhookQuery = (id: string) =>
  queryOptions({
    queryKey: webhookKeys.one(id),
    queryFn: ({ signal }) => call('webhooksGet', { params: { id }, signal }),
    refetchInterval: LIVE_MS,
  });

/** Newest first, while they are attempted. */
export const deliveriesQuery = (id: string, filter: DeliveryFilter) =>
  infiniteQueryOptions({
    queryKey: webhookKeys.deliveries(id, filter),
    queryFn: ({ pageParam, signal }) => call('webhookDeliveriesList', { params: { id }, query: { ...filter, limit: 50, cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: LIVE_MS,
  });

export function useCreateWebhook() {
  const onSuccess = useRefresh();
  return useMutation({ mutationFn: (body: z.output<typeof webhookCreate>) => call('webhooksCreate', { body }), onSuccess });
}

export function usePatchWebhook() {
  const onSuccess = useRefresh();
  return useMutation({
    mutationFn: ({ webhook: { id, version }, body }: { webhook: Webhook; body: z.output<typeof webhookPatch> }) =>
      call('webhooksPatch', { params: { id }, body, ifVersion: version }),
    onSuccess,
  });
}

export function useRotateSecret() {
  const onSuccess = useRefresh();
  return useMutation({ mutationFn: ({ id }: Webhook) => call('webhooksRotate', { params: { id } }), onSuccess });
}

export function useDeleteWebhook() {
  const onSuccess = useRefresh();
  return useMutation({ mutationFn: ({ id, version }: Webhook) => call('webhooksDelete', { params: { id }, ifVersion: version }), onSuccess });
}

export function useRedeliver() {
  const onSuccess = useRefresh();
  return useMutation({
    mutationFn: ({ id, webhookId }: WebhookDelivery) => call('webhookRedeliver', { params: { id: webhookId, deliveryId: id } }),
    onSuccess,
  });
}

function useRefresh() {
  const queryClient = useQueryClient();
  return async (): Promise<void> => {
    await Promise.all([webhookKeys.all, auditKeys.all].map((queryKey) => queryClient.invalidateQueries({ queryKey })));
  };
}
