import { MAX_EXACT, type Overage } from '@quotaplane/contracts';
import type { AdmittedOf, Around, ChargeOf, Circumstances, CounterModel, Figures, Judgement, RefundChange } from './judgement';
import { CLOSED_HINT_MAX_MS, GRACE_MS, QUOTA_GRACE_MS, ttlOf } from './numbers';

export interface QuotaRule {
  /** null counts without denying. */
  readonly allowance: number | null;
  readonly overage: Overage;
  /** Units past which also `throttle` and `bill` deny. */
  readonly ceiling?: number;
  readonly periodEndMs: number;
}

/** Units counted by this generation of the counter. */
export interface QuotaCount {
  readonly count: number;
}

/** What the ledger republishes beside the counter (M3). */
export interface QuotaBase {
  readonly plus: number;
  readonly minus: number;
}

/** counter + plus - minus, held within 0 .. 2^53-1. */
const usedOf = (count: number, { plus, minus }: QuotaBase): number => {
  const net = plus - minus;
  return net > MAX_EXACT - count ? MAX_EXACT : Math.max(0, net + count);
};

/** Units that the charge never passes; undefined where it has no such bound. */
const mostOf = ({ allowance, overage, ceiling }: QuotaRule): number | undefined => {
  if (allowance === null) return undefined;
  return overage === 'reject' ? allowance : ceiling;
};

const periodLeftOf = (rule: QuotaRule, nowMs: number): number => Math.max(0, rule.periodEndMs - nowMs);

/** Its period's end and 48 h more; a counter past even that gets the grace, for a life of 0 would be refused. */
export const quotaTtlMs = (periodEndMs: number, nowMs: number): number =>
  ttlOf(Math.max(GRACE_MS - QUOTA_GRACE_MS, periodEndMs - nowMs), QUOTA_GRACE_MS);

/** `lane`: past the allowance, the throttle lane decides. */
export type QuotaJudgement = Judgement<QuotaCount> & { readonly lane: boolean };

/** @param cost whole units; 0 looks and passes unless the allowance is 0 */
export const judgeQuota = (
  state: QuotaCount | undefined, base: QuotaBase, rule: QuotaRule, cost: number, { nowMs, segmentLeftMs, claimed }: Omit<Circumstances, 'baseOf'>,
): QuotaJudgement => {
  const count = state?.count ?? 0;
  const refuse = (retryAfterMs: number): QuotaJudgement => ({ retryAfterMs, state, lane: false });
  const { allowance, overage } = rule;
  if (allowance === 0) return refuse(Math.min(segmentLeftMs, CLOSED_HINT_MAX_MS));
  const used = usedOf(count, base);
  const periodLeftMs = Math.max(1, periodLeftOf(rule, nowMs));
  const most = mostOf(rule);
  if (most !== undefined && cost > 0) {
    if (cost > most - claimed) return refuse(-1);
    if (cost > most - claimed - used) return refuse(periodLeftMs);
  }
  // C045: a count never passes 2^53-1, whatever the overage.
  if (cost > MAX_EXACT - Math.max(used, count) - claimed) return refuse(periodLeftMs);
  const isPast = allowance !== null && Math.max(cost, 1) > allowance - claimed - used;
  return { retryAfterMs: 0, state: cost === 0 ? state : { count: count + claimed + cost }, lane: isPast && overage === 'throttle' };
};

export const quotaFigures = (
  state: QuotaCount | undefined, base: QuotaBase, rule: QuotaRule, { nowMs, segmentLeftMs }: Omit<Around, 'baseOf'>,
): Figures => {
  const ttlMs = quotaTtlMs(rule.periodEndMs, nowMs);
  const resetAfterMs = periodLeftOf(rule, nowMs);
  if (rule.allowance === 0) {
    return { figures: { remaining: 0, resetAfterMs, moreAfterMs: Math.min(segmentLeftMs, CLOSED_HINT_MAX_MS) }, ttlMs };
  }
  const used = usedOf(state?.count ?? 0, base);
  const remaining = Math.max(0, (rule.allowance ?? MAX_EXACT) - used);
  return { figures: { remaining, resetAfterMs, moreAfterMs: used === 0 ? 0 : resetAfterMs }, ttlMs };
};

const refundQuota = (state: QuotaCount | undefined, { periodEndMs, units }: AdmittedOf<'quota'>, nowMs: number): RefundChange<QuotaCount> | undefined => {
  if (state === undefined) return undefined;
  const count = Math.max(0, state.count - units);
  return count === 0 ? { kind: 'drop' } : { kind: 'write', state: { count }, ttlMs: quotaTtlMs(periodEndMs, nowMs) };
};

export const quotaModel: CounterModel<ChargeOf<'quota'>, QuotaCount, AdmittedOf<'quota'>> = {
  judge: (state, charge, units, around) => judgeQuota(state, around.baseOf(charge.base), charge, units, around),
  figures: (state, charge, around) => quotaFigures(state, around.baseOf(charge.base), charge, around),
  refund: refundQuota,
};
