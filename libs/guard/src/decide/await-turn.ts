import type { GuardDecision } from './guard-decision';

/**
 * Waits until a call's turn in its queue has come. A caller that goes away before gives everything back: its place, its units and its slot.
 * @param signal aborted when the caller has gone
 * @returns false where the caller has gone: the handler must not run
 */
export function awaitTurn(decision: GuardDecision, signal: AbortSignal): Promise<boolean> {
  const { waitMs, withdraw } = decision;
  if (waitMs === undefined) return Promise.resolve(true);
  return new Promise((resolve) => {
    const gone = (): void => {
      clearTimeout(timer);
      withdraw?.();
      resolve(false);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', gone);
      resolve(true);
    }, waitMs);
    if (signal.aborted) gone();
    else signal.addEventListener('abort', gone, { once: true });
  });
}
