/** `over / under`, both whole, `under` above 0; not reduced. */
export interface Fraction {
  readonly over: bigint;
  readonly under: bigint;
}

/** 0 where `a` is not above 0. */
export const ceilDiv = (a: bigint, b: bigint): bigint => (a <= 0n ? 0n : (a + b - 1n) / b);
export const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
export const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** The later of an instant and a whole one. */
export const atLeast = (instant: Fraction, whole: bigint): Fraction => (instant.over < whole * instant.under ? { over: whole, under: 1n } : instant);

/** The smallest number of `from .. to` of which `isTrue` holds; it holds of `to`, and of every number after one of which it holds. */
export function firstTrue(from: bigint, to: bigint, isTrue: (value: bigint) => boolean): bigint {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) / 2n;
    if (isTrue(middle)) high = middle;
    else low = middle + 1n;
  }
  return low;
}
