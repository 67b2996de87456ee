import type { Limit } from '@quotaplane/contracts';

const DAY_MS = 86_400_000;

type Sized = Partial<Limit> & Pick<Limit, 'limit' | 'windowMs'>;

/** One limit of each algorithm whose admission is counted in units of time, all of scope `tenant`. */
export const RATE_ALGORITHMS = ['token-bucket', 'gcra', 'fixed-window', 'sliding-log', 'sliding-counter'] as const;

/** A limit called like its algorithm. A bucket's burst is its limit unless told otherwise. */
export const limitFor = (algorithm: Limit['algorithm'], sized: Sized): Limit => ({
  name: algorithm, algorithm, scope: 'tenant', mode: 'enforce',
  // Opened by the first call, so that no midnight falls into a run.
  ...(algorithm === 'fixed-window' ? { alignment: 'first-hit' as const } : {}),
  ...sized,
});

/** Nothing of it comes back while a spec runs. */
export const dayLimit = (algorithm: Limit['algorithm'], units: number): Limit => limitFor(algorithm, { limit: units, windowMs: DAY_MS });
