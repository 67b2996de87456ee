import { useEffect, useState } from 'react';
import { useIsFetching } from '@tanstack/react-query';
import { useRouterState } from '@tanstack/react-router';

/** True from the first quiet moment on: the page stands, its figures are there and the browser has nothing to do. */
export function useSettled(): boolean {
  const [isSettled, setSettled] = useState(false);
  const isQuiet = useIsFetching() === 0;
  const isPageThere = useRouterState({ select: ({ status }) => status === 'idle' });
  useEffect(() => (isSettled || !isQuiet || !isPageThere ? undefined : whenIdle(() => setSettled(true))), [isSettled, isQuiet, isPageThere]);
  return isSettled;
}

function whenIdle(run: () => void): () => void {
  // Safari has no idle callback.
  if (!('requestIdleCallback' in window)) {
    const timer = globalThis.setTimeout(run, 200);
    return () => globalThis.clearTimeout(timer);
  }
  const handle = window.requestIdleCallback(run, { timeout: 2000 });
  return () => window.cancelIdleCallback(handle);
}
