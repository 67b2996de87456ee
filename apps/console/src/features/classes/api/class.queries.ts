import { queryOptions } from '@tanstack/react-query';
import { call } from '../../../api/client';

export const classKeys = { all: ['endpoint-classes'] as const };

export const classListQuery = queryOptions({
  queryKey: classKeys.all,
  queryFn: ({ signal }) => call('classesList', { query: { limit: 200 }, signal }),
  staleTime: 30_000,
});
