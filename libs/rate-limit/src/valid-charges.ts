import type { AdmittedCharge, Charge } from './store';

/** A charge that no compiled policy holds: a figure that is not a whole number of 0 .. 2^53-1. A fault of the caller, not of the store. */
export class InvalidChargeError extends RangeError {
  override readonly name = 'InvalidChargeError';

  constructor(readonly counter: string, readonly field: string, readonly value: unknown) {
    super(`${field} of counter ${counter} must be a whole number within 0 .. 2^53-1, not ${String(value)}`);
  }
}

const isFigure = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

const requireFigure = (counter: string, field: string, value: number, least = 0): void => {
  if (!isFigure(value) || value < least) throw new InvalidChargeError(counter, field, value);
};

/**
 * Holds the figures to what the exact arithmetic was shown for (M4), so that no caller's NaN can fail the neighbours of its batch.
 * @throws {InvalidChargeError} naming the field
 */
export const requireValidCharges = (charges: readonly Charge[]): void => {
  for (const charge of charges) requireValidCharge(charge);
};

const requireValidCharge = (charge: Charge): void => {
  const { counter } = charge;
  requireFigure(counter, 'cost', charge.cost);
  if (charge.kind === 'quota') {
    if (charge.allowance !== null) requireFigure(counter, 'allowance', charge.allowance);
    requireFigure(counter, 'periodEndMs', charge.periodEndMs);
    if (charge.lane !== undefined) requireValidCharge(charge.lane);
    return;
  }
  if (charge.kind !== 'retry') requireFigure(counter, 'limit', charge.limit);
  if (charge.kind !== 'slot') requireFigure(counter, 'windowMs', charge.windowMs, 1);
  if (charge.kind === 'bucket') requireFigure(counter, 'capacity', charge.capacity);
};

/** @throws {InvalidChargeError} naming the field */
export const requireValidRefund = (charges: readonly AdmittedCharge[]): void => {
  for (const charge of charges) {
    requireFigure(charge.counter, 'units', charge.units);
    if (charge.kind === 'quota') requireFigure(charge.counter, 'periodEndMs', charge.periodEndMs);
    else if (charge.kind !== 'slot') requireFigure(charge.counter, 'windowMs', charge.windowMs, 1);
    if (charge.kind === 'bucket') requireFigure(charge.counter, 'limit', charge.limit);
  }
};
