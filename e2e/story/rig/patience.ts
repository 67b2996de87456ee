import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** Something did not come true in time; the message says what and what was seen last. */
export class OutOfPatienceError extends Error {
  override readonly name = 'OutOfPatienceError';
}

type Probed<T> = T | false | undefined | null;

/**
 * Asks until the answer is neither false nor missing.
 * @throws {OutOfPatienceError} after `limitMs`
 */
export async function until<T>(what: string, limitMs: number, probe: () => Probed<T> | Promise<Probed<T>>, everyMs = 20): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    const seen = await probe();
    if (seen !== false && seen !== undefined && seen !== null) return seen;
    if (performance.now() - startedAt > limitMs) throw new OutOfPatienceError(`${what} did not come within ${limitMs} ms`);
    await sleep(everyMs);
  }
}

/** Part of the processors' time that nobody used, 0 to 1, over the next `overMs`. */
export async function idleShare(overMs: number): Promise<number> {
  const before = processorTimes();
  await sleep(overMs);
  const after = processorTimes();
  return (after.idle - before.idle) / Math.max(1, after.all - before.all);
}

function processorTimes(): { idle: number; all: number } {
  const sums = { idle: 0, all: 0 };
  for (const { times } of cpus()) {
    sums.idle += times.idle;
    sums.all += times.user + times.nice + times.sys + times.idle + times.irq;
  }
  return sums;
}

/** Nearest-rank percentile; `share` 0 to 1. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
