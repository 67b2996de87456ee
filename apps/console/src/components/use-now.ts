import { useSyncExternalStore } from 'react';

// One clock for the page: a table of countdowns must not run a timer per row.
const listeners = new Set<() => void>();
let nowMs = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    nowMs = Date.now();
    for (const each of listeners) each();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Wall clock in epoch ms, once a second while anything shows it. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => nowMs);
}
