import type { GuardDecision } from './guard-decision';
import type { GuardReport } from './reports';

/**
 * A denial as it is told some ms after it was judged: every wait is shorter by that much. What is left of a limit that denies is still the same, or
 * the denial would be remembered no longer; of the others it is what the store said.
 */
export function agedDenial(decision: GuardDecision, byMs: number): GuardDecision {
  if (byMs <= 0) return decision;
  const limits = decision.limits.map((report) => aged(report, byMs));
  const { binding, nowMs, retryAfterMs } = decision;
  const at = binding === undefined ? -1 : decision.limits.indexOf(binding);
  const shown = limits[at];
  return {
    ...decision,
    limits,
    ...(shown ? { binding: shown } : {}),
    ...(nowMs === undefined ? {} : { nowMs: nowMs + byMs }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs: left(retryAfterMs, byMs) }),
  };
}

function aged(report: GuardReport, byMs: number): GuardReport {
  const { resetAfterMs, moreAfterMs, retryAfterMs, laneEndsAfterMs } = report;
  const shorter = { ...report, resetAfterMs: left(resetAfterMs, byMs), moreAfterMs: left(moreAfterMs, byMs), retryAfterMs: left(retryAfterMs, byMs) };
  return laneEndsAfterMs === undefined ? shorter : { ...shorter, laneEndsAfterMs: left(laneEndsAfterMs, byMs) };
}

/** 0 says that there is nothing to wait for, which a wait that was told must not end in. */
const left = (ms: number, byMs: number): number => (ms === 0 ? 0 : Math.max(1, ms - byMs));
