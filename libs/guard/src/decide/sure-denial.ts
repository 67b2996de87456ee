import type { ChargeState, Verdict } from '@quotaplane/rate-limit';
import type { Call } from './call';
import type { CallPlan } from './call-plan';
import type { Applied } from './charges';
import type { GuardDecision } from './guard-decision';

/**
 * How long after its judgement a denial surely holds for calls like it, in ms, as long as nobody gives units back; 0: it is not sure, or what a denial
 * does beside denying must not be missed.
 *
 * Never sure: calls in flight and queues, which somebody else's end opens; calls of a class that gives units back; a cheaper repeat, which is counted;
 * proposed limits, which judge each call; charges that another server judged, whose units a denial elsewhere gives back. A limit with a penalty counts
 * its denials as strikes, and a denial is only remembered while its subject is banned, when no strike is counted (models/penalty).
 * @param applied rates and quotas only: the call holds no slot and has no Idempotency-Key
 */
export function sureForMs(call: Call, plan: CallPlan, applied: readonly Applied[], verdict: Extract<Verdict, { states: unknown }>, decision: GuardDecision): number {
  if (!mayBeRemembered(call) || plan.shadows.length > 0) return 0;
  let sureMs = plan.segment.untilMs - verdict.nowMs;
  for (let index = 0; index < applied.length; index += 1) {
    const [one, state] = [applied[index], verdict.states[index]];
    if (one === undefined || state === undefined || state.nowMs !== undefined) return 0;
    sureMs = Math.min(sureMs, untilMissed(one, state));
  }
  return Math.min(sureMs, untilChanged(decision));
}

/** Whether calls like this one are answered from memory at all. */
export const mayBeRemembered = ({ cost, holdsSlot, idempotencyKey, isExempt, class: { refundOn } }: Call): boolean =>
  cost > 0 && holdsSlot !== true && idempotencyKey === undefined && isExempt !== true && (refundOn === undefined || refundOn.length === 0);

/** ms until a denial that never reaches the store would be missed there. */
function untilMissed(one: Applied, { bannedMs = 0 }: ChargeState): number {
  if (one.kind === 'quota') return Infinity;
  if (one.kind !== 'rate' || one.charge.kind === 'queue') return 0;
  return one.charge.penalty === undefined ? Infinity : bannedMs;
}

/**
 * ms until none of the limits denies any more, or until more is left of one that does, so that its figures would be wrong. A cost above a limit's
 * capacity waits for neither.
 */
function untilChanged({ limits }: GuardDecision): number {
  let [passesMs, changesMs] = [0, Infinity];
  for (const { isViolated, retryAfterMs, moreAfterMs } of limits) {
    if (!isViolated) continue;
    passesMs = Math.max(passesMs, retryAfterMs === 0 ? Infinity : retryAfterMs);
    if (moreAfterMs > 0) changesMs = Math.min(changesMs, moreAfterMs);
  }
  return Math.min(passesMs, changesMs);
}
