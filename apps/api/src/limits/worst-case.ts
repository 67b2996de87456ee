import { BUCKET_ALGORITHMS, type CompiledLimit } from '@quotaplane/contracts';

export type CountedLimit = Pick<CompiledLimit, 'algorithm' | 'limit' | 'burst' | 'alignment' | 'maxQueue'>;

/**
 * Most units that pass in any stretch of `windowMs`, wherever it begins, while the limit stays as it is; null where it is unlimited.
 * - a bucket: what it holds, and what drains meanwhile: burst + limit
 * - a leaky bucket: its outflow is constant, so limit; but a call goes as a whole, so that the last one in the stretch may bring all of its cost but the
 *   unit that is due: limit + cost - 1, and no cost is above maxQueue + 1
 * - a fixed window: the end of one and the beginning of the next: 2 x limit; one unit less where a call opens the window, for it is in the first
 * - a sliding log: limit, for that is what it measures
 * - a sliding counter: it takes the window before as spread evenly; when it was not, up to limit more, less the unit that still weighs
 */
export function worstCaseUnits({ algorithm, limit, burst, alignment, maxQueue }: CountedLimit): number | null {
  if (limit === null) return null;
  if (limit === 0) return 0;
  if (BUCKET_ALGORITHMS.includes(algorithm)) return within((burst ?? limit) + limit);
  switch (algorithm) {
    case 'fixed-window':
      return within(2 * limit - (alignment === 'first-hit' ? 1 : 0));
    case 'sliding-counter':
      return within(2 * limit - 1);
    case 'leaky-bucket':
      return within(limit + (maxQueue ?? 0));
    default:
      return limit;
  }
}

/** Sums of two exact figures may pass what JSON carries exactly; so large a limit limits nobody. */
const within = (units: number): number => Math.min(units, Number.MAX_SAFE_INTEGER);
