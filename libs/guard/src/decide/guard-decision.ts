import type { Decision, DecisionSource, LimitReport } from '@quotaplane/contracts';
import type { ChargeState, QuotaState } from '@quotaplane/rate-limit';
import type { Call } from './call';
import { throttleName, type CallPlan } from './call-plan';
import { appliedTo, type Applied } from './charges';

/** A limit's figures with the partition key that goes into the `RateLimit` field. */
export interface GuardReport extends LimitReport {
  readonly partition: Buffer;
  /** False where running out denies nothing: a quota that bills, or one whose slower lane decides. */
  readonly canDeny: boolean;
}

/** A decision with what its headers are written from. */
export interface GuardDecision extends Decision {
  readonly limits: readonly GuardReport[];
  readonly binding?: GuardReport;
  /** The plan it was judged by; undefined when no plan was needed (blocked before any limit). */
  readonly plan?: CallPlan;
}

export interface Judgement {
  readonly call: Call;
  readonly plan: CallPlan;
  readonly applied: readonly Applied[];
  readonly states: readonly (ChargeState | QuotaState)[];
  readonly isAllowed: boolean;
  readonly source: DecisionSource;
  readonly revision: number;
  /** Store time of the judgement. */
  readonly nowMs: number;
}

/** Longest time until anything changes that a blocked caller is told, in ms; a hint. */
const BLOCKED_HINT_MAX_MS = 86_400_000;
const NEVER = -1;

/** Makes the decision of a judgement: figures of every limit, the binding one, the code and the wait. */
export function decisionOf(judgement: Judgement): GuardDecision {
  const { call, plan, source, revision, applied, states } = judgement;
  const limits = reportsOf(judgement);
  const isNever = applied.some((_, index) => states[index]?.retryAfterMs === NEVER);
  const violated = limits.filter((report) => report.isViolated);
  const isAllowed = judgement.isAllowed && violated.length === 0;
  const binding = isAllowed ? smallestShare(limits) : longestWait(violated);
  const base = { source, tenant: call.tenant, tier: plan.segment.tier, revision, cost: call.cost, limits, plan, ...(binding ? { binding } : {}) };
  if (isAllowed) return { ...base, outcome: 'allowed' };
  if (isNever) {
    const never = violated.find((report) => report.retryAfterMs === 0);
    return { ...base, ...(never ? { binding: never } : {}), outcome: 'denied', code: 'cost_exceeds_limit' };
  }
  const code = binding?.kind === 'quota' ? 'quota_exceeded' : 'rate_limited';
  return { ...base, outcome: 'denied', code, retryAfterMs: Math.max(1, binding?.retryAfterMs ?? 1) };
}

function reportsOf(judgement: Judgement): GuardReport[] {
  const reports: GuardReport[] = [];
  judgement.applied.forEach((one, index) => {
    const state = judgement.states[index];
    if (!state) return;
    if (one.kind === 'rate') reports.push(rateReport(one, state, judgement));
    else reports.push(...quotaReports(one, state, judgement));
  });
  return reports;
}

/** The rate or quota of which least is left; what clients should steer by. */
export function smallestShare(limits: readonly GuardReport[]): GuardReport | undefined {
  let smallest: GuardReport | undefined;
  let smallestPart = Number.POSITIVE_INFINITY;
  for (const report of limits) {
    if (!report.canDeny) continue;
    const part = report.capacity === 0 ? 0 : report.remaining / report.capacity;
    if (part >= smallestPart) continue;
    smallest = report;
    smallestPart = part;
  }
  return smallest;
}

function longestWait(violated: readonly GuardReport[]): GuardReport | undefined {
  return violated.reduce<GuardReport | undefined>((longest, report) => (longest && longest.retryAfterMs >= report.retryAfterMs ? longest : report), undefined);
}

function rateReport({ rate, partition }: Extract<Applied, { kind: 'rate' }>, state: ChargeState, judgement: Judgement): GuardReport {
  return {
    kind: 'rate',
    name: rate.limit.name,
    scope: rate.limit.scope,
    limit: rate.limit.limit,
    windowMs: rate.limit.windowMs,
    capacity: rate.capacity,
    cost: judgement.call.cost,
    remaining: state.remaining,
    resetAfterMs: state.resetAfterMs,
    moreAfterMs: state.moreAfterMs,
    retryAfterMs: Math.max(0, state.retryAfterMs),
    isViolated: state.retryAfterMs !== 0,
    partition,
    canDeny: true,
  };
}

function quotaReports({ quota, charge, partition }: Extract<Applied, { kind: 'quota' }>, state: QuotaState, judgement: Judgement): GuardReport[] {
  const { allowance, overage, lane } = charge;
  // An unlimited quota counts in the ledger and says nothing to the caller.
  if (allowance === null) return [];
  const { period } = judgement.plan.segment;
  const laneState = lane && 'lane' in state ? state.lane : undefined;
  const month: GuardReport = {
    kind: 'quota',
    name: quota.name,
    scope: 'tenant',
    limit: allowance,
    windowMs: period.endMs - period.startMs,
    capacity: allowance,
    cost: judgement.call.cost,
    remaining: state.remaining,
    resetAfterMs: state.resetAfterMs,
    moreAfterMs: state.moreAfterMs,
    retryAfterMs: laneState ? 0 : Math.max(0, state.retryAfterMs),
    isViolated: !laneState && state.retryAfterMs !== 0,
    partition,
    canDeny: overage === 'reject' || allowance === 0,
  };
  if (!lane || !laneState) return [month];
  const slower: GuardReport = {
    kind: 'rate',
    name: throttleName(quota.name),
    scope: 'tenant',
    limit: lane.limit,
    windowMs: lane.windowMs,
    capacity: lane.capacity,
    cost: judgement.call.cost,
    remaining: laneState.remaining,
    resetAfterMs: laneState.resetAfterMs,
    moreAfterMs: laneState.moreAfterMs,
    // Too much for the slower lane passes when the next period opens the full one.
    retryAfterMs: laneState.retryAfterMs === NEVER ? state.resetAfterMs : laneState.retryAfterMs,
    isViolated: laneState.retryAfterMs !== 0,
    partition,
    canDeny: true,
  };
  return [month, slower];
}

/** A suspended account: refused whatever its limits would say. */
export function blockedDecision(facts: RefusalFacts & { readonly plan: CallPlan; readonly nowMs: number }): GuardDecision {
  const { call, plan, nowMs } = facts;
  const afterMs = Math.min(BLOCKED_HINT_MAX_MS, Math.max(1000, plan.segment.untilMs - nowMs));
  return { ...refusal(facts), outcome: 'denied', code: 'blocked', limits: exhausted({ ...facts, applied: appliedTo(plan, call, 0) }, afterMs) };
}

/** The store is away and the class does not go on without it, or this node's share cannot hold the call. */
export function unavailableDecision(facts: RefusalFacts & { readonly retryAfterMs: number; readonly limits?: readonly GuardReport[] }): GuardDecision {
  const { call, plan, retryAfterMs } = facts;
  const limits = facts.limits ?? (plan ? exhausted({ ...facts, plan, applied: appliedTo(plan, call, 0) }, retryAfterMs) : []);
  return { ...refusal(facts), outcome: 'denied', code: 'limiter_unavailable', limits, retryAfterMs };
}

interface RefusalFacts {
  readonly call: Call;
  readonly plan: CallPlan | undefined;
  readonly revision: number;
  readonly source: DecisionSource;
}

function refusal({ call, plan, revision, source }: RefusalFacts): Pick<GuardDecision, 'source' | 'tenant' | 'tier' | 'revision' | 'cost' | 'plan'> {
  return { source, tenant: call.tenant, tier: plan?.segment.tier ?? 'default', revision, cost: call.cost, ...(plan ? { plan } : {}) };
}

/** Reports of a refusal that no limit caused: nothing is available until `afterMs`, and none is violated. */
function exhausted(facts: RefusalFacts & { readonly plan: CallPlan; readonly applied: readonly Applied[] }, afterMs: number): GuardReport[] {
  const state = { remaining: 0, resetAfterMs: afterMs, moreAfterMs: afterMs, retryAfterMs: 0 };
  const judgement = { ...facts, states: facts.applied.map(() => state), isAllowed: false, nowMs: 0 };
  return reportsOf(judgement).map((report) => ({ ...report, isViolated: false }));
}
