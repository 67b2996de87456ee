import { useMutation, useQueryClient } from '@tanstack/react-query';
import { call } from '../../../api/client';
import { sessionKeys } from './session.queries';

/** Ends the session and forgets everything that was read under it. */
export function useSignOut(onDone: () => void) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: () => call('signOut', {}),
    onSuccess: () => {
      queryClient.clear();
      queryClient.setQueryData(sessionKeys.all, null);
      onDone();
    },
  });
}
