/** A cost is a whole number of units from 0 to 2^53-1. */
export const isCost = (units: unknown): units is number => Number.isSafeInteger(units) && (units as number) >= 0;

/** What is wrong with a cost, for the caller; only numbers are repeated, for anything else may hold the caller's own text. */
export function costFault(units: unknown): string {
  const found = typeof units === 'number' ? String(units) : units === null ? 'null' : typeof units;
  return `the cost worked out from this request is ${found}, not a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`;
}

/** `@Cost` was given a number that is no cost: a fault of the service, seen when it loads. */
export class InvalidCostError extends Error {
  override readonly name = 'InvalidCostError';
  constructor(units: unknown) {
    super(`@Cost(${String(units)}): a cost is a whole number from 0 to 2^53-1`);
  }
}
