import type { MeasuredRequest } from './list-requests';
import type { RestClient } from './rest-client';

const CONCURRENCY = 4;
const WARM_UP = 20;

export interface Latency {
  readonly name: string;
  readonly requests: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly worstMs: number;
}

const quantile = (sorted: readonly number[], share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

/** Asks `requests` times, so many at once as one page of the console does, after a few that are not counted. */
export async function measureLatency(rest: RestClient, { name, pathOf }: MeasuredRequest, requests: number): Promise<Latency> {
  const taken: number[] = [];
  let next = 0;
  const ask = async (): Promise<void> => {
    for (let index = next++; index < requests + WARM_UP; index = next++) {
      const startedAt = performance.now();
      await rest.ask('GET', pathOf(index));
      if (index >= WARM_UP) taken.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, ask));
  taken.sort((a, b) => a - b);
  return { name, requests: taken.length, p50Ms: quantile(taken, 0.5), p99Ms: quantile(taken, 0.99), worstMs: taken.at(-1) ?? 0 };
}
