import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { call } from '../../../api/client';

export const usageKeys = {
  all: ['usage'] as const,
  list: (period: string) => [...usageKeys.all, 'list', period] as const,
  ofTenant: (tenant: string, period: string) => [...usageKeys.all, 'tenant', tenant, period] as const,
  degraded: () => [...usageKeys.all, 'degraded'] as const,
  series: (tenant: string, span: string) => [...usageKeys.all, 'series', tenant, span] as const,
};

const LIVE_MS = 5000;

export const usageListQuery = (period: string) =>
  infiniteQueryOptions({
    queryKey: usageKeys.list(period),
    queryFn: ({ pageParam, signal }) => call('usageList', { query: { period, limit: 200, cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: LIVE_MS,
  });

/** Every meter of one tenant: the running period, or those that start in a month. */
export const tenantUsageQuery = (tenant: string, period = 'current') =>
  queryOptions({
    queryKey: usageKeys.ofTenant(tenant, period),
    queryFn: ({ signal }) => call('usageList', { query: { period, tenant, limit: 50 }, signal }),
    refetchInterval: LIVE_MS,
  });

export const MOST_OUTAGE_ROWS = 200;
/** What was admitted without the store in the last 31 days, newest first. An outage is seldom and over when it is folded: no need to hurry. */
export const degradedUsageQuery = () =>
  queryOptions({
    queryKey: usageKeys.degraded(),
    queryFn: ({ signal }) => call('usageDegradedList', { query: { limit: MOST_OUTAGE_ROWS }, signal }),
    refetchInterval: 6 * LIVE_MS,
  });

/** Allowed and denied of the last hour, minute by minute. */
export const recentTrafficQuery = (tenant: string) =>
  queryOptions({
    queryKey: usageKeys.series(tenant, 'hour'),
    queryFn: ({ signal }) => {
      const nowMs = Date.now();
      return call('tenantSeriesGet', {
        params: { slug: tenant },
        query: { from: new Date(nowMs - 3_600_000).toISOString(), to: new Date(nowMs).toISOString(), step: 60 },
        signal,
      });
    },
    refetchInterval: LIVE_MS,
  });

/** Units of one billing period, hour by hour; while it runs they grow beside the ledger's total. */
export const periodSeriesQuery = (tenant: string, start: string, end: string) =>
  queryOptions({
    queryKey: usageKeys.series(tenant, `${start}/${end}`),
    queryFn: ({ signal }) =>
      call('tenantSeriesGet', {
        params: { slug: tenant },
        query: { from: start, to: new Date(Math.min(Date.now(), Date.parse(end))).toISOString(), step: 3600 },
        signal,
      }),
    refetchInterval: () => (Date.now() < Date.parse(end) ? LIVE_MS : false),
  });
