import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiProblem } from '../api/api-problem';
import { sessionKeys } from '../features/session/api/session.queries';

/**
 * Server state of the console. Reads are tried again only when the server may answer otherwise; a session that ended is noticed anywhere.
 * @param onSignedOut called once when the API says that nobody is signed in any more
 */
export function createQueryClient(onSignedOut: () => void): QueryClient {
  const noticeSignOut = (error: unknown): void => {
    // A refused sign-in is 401 too, but there was no session to lose.
    if (!(error instanceof ApiProblem) || error.status !== 401 || !client.getQueryData(sessionKeys.all)) return;
    client.setQueryData(sessionKeys.all, null);
    onSignedOut();
  };
  const client = new QueryClient({
    queryCache: new QueryCache({ onError: noticeSignOut }),
    mutationCache: new MutationCache({ onError: noticeSignOut }),
    defaultOptions: {
      queries: {
        staleTime: 2000,
        retry: (failures, error) => failures < 2 && isWorthRetrying(error),
        retryDelay: (failures) => 300 * 2 ** failures,
      },
    },
  });
  return client;
}

function isWorthRetrying(error: unknown): boolean {
  return !(error instanceof ApiProblem) || error.status === 0 || error.status >= 500;
}
