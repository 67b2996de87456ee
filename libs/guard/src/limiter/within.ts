/** Waits for a step, but no longer; undefined when it failed or is still at it. */
export async function within<T>(waitMs: number, step: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), waitMs);
  });
  try {
    return await Promise.race([step.catch(() => undefined), timeout]);
  } finally {
    clearTimeout(timer);
  }
}
