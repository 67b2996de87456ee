/** Longest that a timer can be set for, ms; longer ones fire at once. */
const TIMER_MAX_MS = 2_147_483_647;

/**
 * Waits until `untilMs` on the clock `now`, never less: timers may fire a moment early, and a call that is early is denied again.
 * @throws the signal's reason when it aborts
 */
export async function pauseUntil(untilMs: number, now: () => number, signal: AbortSignal | undefined): Promise<void> {
  for (let left = untilMs - now(); left > 0; left = untilMs - now()) await timer(Math.min(left, TIMER_MAX_MS), signal);
}

function timer(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(handle);
      reject(signal?.reason as Error);
    };
    const handle = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}
