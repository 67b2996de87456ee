import type { Admission, AdmittedCharge, Charge, ChargeState, QuotaState, RateCharge } from './store';

/**
 * What a refund of this admission would give back: every charge of a cost above 0, a throttle lane only where it was charged, and of a repeat
 * only what it cost.
 * @param charges of the check that was allowed
 * @param admission its "allowed" verdict
 */
export const admitted = (charges: readonly Charge[], admission: Admission): AdmittedCharge[] => {
  const costCap = admission.states[0]?.repeatCost ?? Infinity;
  return charges.flatMap((charge, index) => {
    const state = admission.states[index];
    if (state === undefined || charge.cost === 0 || charge.kind === 'retry') return [];
    const nowMs = state.nowMs ?? admission.nowMs;
    if (charge.kind === 'slot') return [{ kind: 'slot', counter: charge.counter, units: 1 }];
    const units = Math.min(charge.cost, costCap);
    if (units === 0) return [];
    if (charge.kind !== 'quota') return [admittedRate(charge, state, units, nowMs)];
    const quota: AdmittedCharge = { kind: 'quota', counter: charge.counter, periodEndMs: charge.periodEndMs, units };
    const lane = laneStateOf(state);
    return charge.lane === undefined || lane === undefined ? [quota] : [quota, admittedRate(charge.lane, lane, units, nowMs)];
  });
};

const laneStateOf = (state: ChargeState | QuotaState): ChargeState | undefined => ('lane' in state ? state.lane : undefined);

const admittedRate = (charge: RateCharge, state: ChargeState, units: number, nowMs: number): AdmittedCharge => {
  const { counter, windowMs } = charge;
  if (charge.kind === 'bucket') return { kind: 'bucket', counter, limit: charge.limit, windowMs, units };
  if (charge.kind === 'log') return { kind: 'log', counter, windowMs, atMs: nowMs, units };
  if (charge.kind === 'queue') return { kind: 'queue', counter, limit: charge.limit, windowMs, departsAtMs: nowMs + (state.waitMs ?? 0), units };
  // Just after spending, a window resets where it ends, and a sliding counter a window later.
  if (charge.kind === 'counter') return { kind: 'counter', counter, windowMs, startMs: nowMs + state.resetAfterMs - 2 * windowMs, units };
  return { kind: 'window', counter, windowMs, startMs: nowMs + state.resetAfterMs - windowMs, units };
};
