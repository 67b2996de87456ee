import type { Decision, DecisionSource } from '@quotaplane/contracts';
import type { OnCallEnd } from '../http/response-end';
import type { Call } from './call';
import type { CallPlan } from './call-plan';
import { appliedTo, type Applied } from './charges';
import { NEVER, reportsOf, smallestShare, type GuardReport, type JudgedCharges } from './reports';

/** A decision with what its headers are written from, and what it owes. */
export interface GuardDecision extends Decision {
  readonly limits: readonly GuardReport[];
  readonly binding?: GuardReport;
  /** The plan it was judged by; undefined when no plan was needed (refused before any policy was known). */
  readonly plan?: CallPlan;
  /** Store time of the judgement, or as near as this node knows it. */
  readonly nowMs?: number;
  /** Limits of the policy that were not asked, for the policy field of a call on the allow list. */
  readonly unasked?: readonly GuardReport[];
  /** Present where something is owed at the call's end: a slot, or units that its class gives back by outcome. Call it exactly once; twice does no harm. */
  readonly release?: OnCallEnd;
  /** Present where {@link waitMs} is: gives everything back, for a caller that is gone before its turn. {@link release} has nothing left to do then. */
  readonly withdraw?: () => void;
  /** Present where a slot is held: what to do when its lease ran out under the call. Cut the answer off, for somebody else may have the slot by then. */
  readonly whenSlotLost?: (end: () => void) => void;
}

export interface Judgement extends Omit<JudgedCharges, 'cost'> {
  readonly call: Call;
  readonly isAllowed: boolean;
  readonly source: DecisionSource;
  readonly revision: number;
  /** Store time of the judgement. */
  readonly nowMs: number;
}

/** Makes the decision of a judgement: figures of every limit, the binding one, the code and the wait. Runs on every call: the plain case builds one object. */
export function decisionOf(judgement: Judgement): GuardDecision {
  const { call, plan, source, revision, applied, states, nowMs } = judgement;
  const cost = chargedCost(judgement);
  const limits = reportsOf({ plan, applied, states, cost });
  if (!judgement.isAllowed || limits.some(isViolated)) return denialOf(judgement, limits, cost);
  const { tenant } = call;
  const { tier } = plan.segment;
  const binding = smallestShare(limits);
  const allowed: GuardDecision = binding === undefined
    ? { outcome: 'allowed', source, tenant, tier, revision, cost, limits, plan, nowMs }
    : { outcome: 'allowed', source, tenant, tier, revision, cost, limits, plan, nowMs, binding };
  if (call.isExempt === true) return { ...allowed, unasked: unaskedReports(plan, call) };
  const waitMs = longestTurn(applied, states);
  return waitMs === 0 ? allowed : { ...allowed, waitMs };
}

const isViolated = (report: GuardReport): boolean => report.isViolated;

function denialOf({ call, plan, source, revision, applied, states, nowMs }: Judgement, limits: GuardReport[], cost: number): GuardDecision {
  const violated = limits.filter(isViolated);
  const binding = longestWait(violated);
  const { tenant } = call;
  const { tier } = plan.segment;
  // A ban denies whatever is left of the limits, and whatever the call costs.
  const isBanned = violated.some((report) => report.isBanned === true);
  if (!isBanned && applied.some((_, index) => states[index]?.retryAfterMs === NEVER)) {
    const shown = violated.find((report) => report.retryAfterMs === 0) ?? binding;
    return { outcome: 'denied', code: 'cost_exceeds_limit', source, tenant, tier, revision, cost, limits, plan, nowMs, ...(shown ? { binding: shown } : {}) };
  }
  const code = isBanned ? 'penalised' : CODES[binding?.kind ?? 'rate'];
  if (binding === undefined) return { outcome: 'denied', code, source, tenant, tier, revision, cost, limits, plan, nowMs, retryAfterMs: 1 };
  return { outcome: 'denied', code, source, tenant, tier, revision, cost, limits, plan, nowMs, binding, retryAfterMs: Math.max(1, binding.retryAfterMs) };
}

const CODES = { rate: 'rate_limited', quota: 'quota_exceeded', concurrency: 'concurrency_exceeded' } as const;

/** A repeat under its Idempotency-Key was judged, and charged, at the class's lower cost. */
function chargedCost({ call, applied, states }: Judgement): number {
  if (applied[0]?.kind !== 'retry') return call.cost;
  return Math.min(call.cost, states[0]?.repeatCost ?? call.cost);
}

/** ms until the last of the queues that the call stands in lets it go. */
function longestTurn(applied: readonly Applied[], states: Judgement['states']): number {
  let waitMs = 0;
  for (let index = 0; index < applied.length; index += 1) waitMs = Math.max(waitMs, states[index]?.waitMs ?? 0);
  return waitMs;
}

function longestWait(violated: readonly GuardReport[]): GuardReport | undefined {
  return violated.reduce<GuardReport | undefined>((longest, report) => (longest && longest.retryAfterMs >= report.retryAfterMs ? longest : report), undefined);
}

/** A call on the allow list: its fields name the policy, and no figures, for nothing was asked. */
function unaskedReports(plan: CallPlan, call: Call): GuardReport[] {
  const applied = appliedTo(plan, { ...call, isExempt: false }, 0);
  const untouched = { remaining: 0, resetAfterMs: 0, moreAfterMs: 0, retryAfterMs: 0 };
  return reportsOf({ plan, applied, cost: call.cost, states: applied.map(() => untouched) });
}
