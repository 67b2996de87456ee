import { queryOptions, useQuery } from '@tanstack/react-query';
import type { Right, WhoAmI } from '@quotaplane/contracts';
import { ApiProblem } from '../../../api/api-problem';
import { call } from '../../../api/client';

export const sessionKeys = { all: ['session'] as const };

/** Who is signed in; null when nobody is. */
export const sessionQuery = queryOptions({
  queryKey: sessionKeys.all,
  queryFn: async ({ signal }): Promise<WhoAmI | null> => {
    try {
      return await call('whoAmI', { signal });
    } catch (error) {
      if (error instanceof ApiProblem && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: 60_000,
});

/** Whether the signed-in operator holds the right; the API decides, this only hides what it would refuse. */
export function useCan(right: Right): boolean {
  const { data } = useQuery(sessionQuery);
  return data?.rights.includes(right) ?? false;
}
