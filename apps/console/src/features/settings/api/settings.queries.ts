import { queryOptions } from '@tanstack/react-query';
import { call } from '../../../api/client';

export const settingsKeys = {
  all: ['settings'] as const,
  platform: () => [...settingsKeys.all, 'platform'] as const,
  operators: () => [...settingsKeys.all, 'operators'] as const,
  tokens: () => [...settingsKeys.all, 'tokens'] as const,
};

export const settingsQuery = queryOptions({ queryKey: settingsKeys.platform(), queryFn: ({ signal }) => call('settingsGet', { signal }) });
export const operatorsQuery = queryOptions({
  queryKey: settingsKeys.operators(),
  queryFn: ({ signal }) => call('operatorsList', { query: { limit: 200 }, signal }),
});
export const tokensQuery = queryOptions({
  queryKey: settingsKeys.tokens(),
  queryFn: ({ signal }) => call('tokensList', { query: { limit: 200 }, signal }),
});
