/** Of the figures of all rounds: half of them lie between the quartiles. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export function spreadOf(figures: readonly number[]): Spread {
  const sorted = figures.toSorted((left, right) => left - right);
  const at = (share: number): number => {
    const place = (sorted.length - 1) * share;
    const [below, above] = [sorted[Math.floor(place)] ?? 0, sorted[Math.ceil(place)] ?? 0];
    return below + (above - below) * (place - Math.floor(place));
  };
  return { median: at(0.5), low: at(0.25), high: at(0.75) };
}
