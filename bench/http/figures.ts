/** A median with its quartiles. */
export interface Spread {
  readonly low: number;
  readonly middle: number;
  readonly high: number;
}

export function spreadOf(figures: readonly number[]): Spread {
  const sorted = [...figures].sort((one, other) => one - other);
  return { low: quantile(sorted, 0.25), middle: quantile(sorted, 0.5), high: quantile(sorted, 0.75) };
}

/** @param sorted ascending; @param part 0 to 1 */
export function quantile(sorted: ArrayLike<number>, part: number): number {
  const at = (sorted.length - 1) * part;
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}
