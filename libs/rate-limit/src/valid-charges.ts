import type { AdmittedCharge, Charge, PenaltyRule } from './store';

/** A charge that no compiled policy holds: a figure that is not a whole number of 0 .. 2^53-1. A fault of the caller, not of the store. */
export class InvalidChargeError extends RangeError {
  override readonly name = 'InvalidChargeError';

  constructor(readonly counter: string, readonly field: string, readonly value: unknown, most = '2^53-1', least = 0) {
    super(`${field} of counter ${counter} must be a whole number within ${least} .. ${most}, not ${String(value)}`);
  }
}

const isFigure = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

const requireFigure = (counter: string, field: string, value: number, least = 0): void => {
  if (!isFigure(value) || value < least) throw new InvalidChargeError(counter, field, value, undefined, least);
};

/**
 * Holds the figures to what the exact arithmetic was shown for (M4), so that no caller's NaN can fail the neighbours of its batch.
 * @throws {InvalidChargeError} naming the field
 */
export const requireValidCharges = (charges: readonly Charge[]): void => {
  for (const charge of charges) requireValidCharge(charge);
};

/** Entries that a sliding log may hold, so that its memory and its longest walk stay bounded. */
const LOG_LIMIT_MAX = 10_000;

const requireValidCharge = (charge: Charge): void => {
  const { counter } = charge;
  requireFigure(counter, 'cost', charge.cost);
  if (charge.kind === 'quota') {
    if (charge.allowance !== null) requireFigure(counter, 'allowance', charge.allowance);
    if (charge.ceiling !== undefined) requireFigure(counter, 'ceiling', charge.ceiling, charge.allowance ?? 0);
    requireFigure(counter, 'periodEndMs', charge.periodEndMs);
    if (charge.lane !== undefined) requireValidCharge(charge.lane);
    return;
  }
  if (charge.kind === 'retry') {
    requireFigure(counter, 'windowMs', charge.windowMs, 1);
    requireFigure(counter, 'max', charge.max);
    return requireFigure(counter, 'repeatCost', charge.repeatCost);
  }
  if ('penalty' in charge && charge.penalty !== undefined) requireValidPenalty(charge.penalty);
  requireFigure(counter, 'limit', charge.limit);
  if (charge.kind !== 'slot') requireFigure(counter, 'windowMs', charge.windowMs, 1);
  if (charge.kind === 'bucket' || charge.kind === 'queue') requireFigure(counter, 'capacity', charge.capacity);
  if (charge.kind === 'queue') requireFigure(counter, 'maxWaitMs', charge.maxWaitMs);
  if (charge.kind === 'log' && charge.limit > LOG_LIMIT_MAX) throw new InvalidChargeError(counter, 'limit', charge.limit, String(LOG_LIMIT_MAX));
};

const requireValidPenalty = (penalty: PenaltyRule): void => {
  const { counter } = penalty;
  for (const field of ['strikes', 'withinMs', 'banMs', 'factor', 'maxBanMs'] as const) requireFigure(counter, field, penalty[field], 1);
  requireFigure(counter, 'forgiveAfterMs', penalty.forgiveAfterMs);
};

/** @throws {InvalidChargeError} naming the field */
export const requireValidRefund = (charges: readonly AdmittedCharge[]): void => {
  for (const charge of charges) {
    requireFigure(charge.counter, 'units', charge.units);
    if (charge.kind === 'quota') requireFigure(charge.counter, 'periodEndMs', charge.periodEndMs);
    else if (charge.kind !== 'slot') requireFigure(charge.counter, 'windowMs', charge.windowMs, 1);
    if (charge.kind === 'bucket' || charge.kind === 'queue') requireFigure(charge.counter, 'limit', charge.limit);
    for (const [field, value] of instantsOf(charge)) requireFigure(charge.counter, field, value);
  }
};

const instantsOf = (charge: AdmittedCharge): [string, number][] => {
  if (charge.kind === 'log') return [['atMs', charge.atMs]];
  if (charge.kind === 'queue') return [['departsAtMs', charge.departsAtMs]];
  return charge.kind === 'counter' || charge.kind === 'window' ? [['startMs', charge.startMs]] : [];
};
