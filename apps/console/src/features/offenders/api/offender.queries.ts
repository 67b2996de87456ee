import { queryOptions, keepPreviousData } from '@tanstack/react-query';
import { call } from '../../../api/client';

export const offenderKeys = {
  all: ['offenders'] as const,
  top: (minutes: number, count: number) => [...offenderKeys.all, 'top', minutes, count] as const,
};

const LIVE_MS = 2000;

/** The most denied subjects of the last minutes, live while not paused. */
export const offendersQuery = (minutes: number, { isPaused = false, count = 100 } = {}) =>
  queryOptions({
    queryKey: offenderKeys.top(minutes, count),
    queryFn: ({ signal }) => call('offendersList', { query: { minutes, limit: count }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: isPaused ? false : LIVE_MS,
  });
