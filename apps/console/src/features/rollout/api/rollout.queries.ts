import { queryOptions } from '@tanstack/react-query';
import type { ChangeReceipts, Node } from '@quotaplane/contracts';
import { call } from '../../../api/client';

export const rolloutKeys = {
  all: ['rollout'] as const,
  change: (id: string) => [...rolloutKeys.all, 'change', id] as const,
  nodes: () => [...rolloutKeys.all, 'nodes'] as const,
};

const QUICK_MS = 100;
const SLOW_MS = 1000;
const QUICK_FOR_MS = 10_000;
const GIVE_UP_AFTER_MS = 120_000;

/** Every live node has dropped what was older. */
export function isLive(receipts: ChangeReceipts): boolean {
  return receipts.state === 'published' && receipts.nodes.live >= receipts.nodes.total;
}

/** Receipts of one change: asked for ten times a second until every node has it, then never again. */
export const changeQuery = (id: string, startedAtMs: number) =>
  queryOptions({
    queryKey: rolloutKeys.change(id),
    queryFn: ({ signal }) => call('changesGet', { params: { id }, signal }),
    retry: true,
    retryDelay: 500,
    refetchInterval: ({ state: { data } }) => {
      if (data && isLive(data)) return false;
      const waitedMs = Date.now() - startedAtMs;
      return waitedMs > GIVE_UP_AFTER_MS ? false : waitedMs > QUICK_FOR_MS ? SLOW_MS : QUICK_MS;
    },
  });

/** Those alive come first, then the last to start: an order that stands still while they report. */
export function liveFirst(nodes: readonly Node[]): Node[] {
  return nodes.toSorted((a, b) => Number(b.alive) - Number(a.alive) || Date.parse(b.startedAt) - Date.parse(a.startedAt));
}

export const nodesQuery = queryOptions({
  queryKey: rolloutKeys.nodes(),
  queryFn: ({ signal }) => call('nodesList', { query: { limit: 200 }, signal }),
  refetchInterval: 5000,
});
