/** The promise's value, or `otherwise` once `deadlineAtMs` (`performance.now()`) has passed; rejects only if the promise does before that. */
export async function within<Value>(promise: Promise<Value>, deadlineAtMs: number, otherwise: Value): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<Value>((resolve) => {
    timer = setTimeout(() => {
      // After a stall the answer may already be in the socket: one turn of the event loop lets it in first.
      setImmediate(resolve, otherwise);
    }, Math.max(0, deadlineAtMs - performance.now()));
  });
  try {
    return await Promise.race([promise, expired]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves at a monotonic instant. */
export function sleepUntil(atMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, atMs - performance.now()));
  });
}
