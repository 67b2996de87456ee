import type { LimitReport } from '@quotaplane/contracts';
import type { ChargeState, QuotaState } from '@quotaplane/rate-limit';
import type { CallPlan } from './call-plan';
import type { Applied } from './charges';
import { SLOT_NAME, throttleName } from './counter-names';

/** A limit's figures with the partition key, in base64, that goes into the `RateLimit` field. */
export interface GuardReport extends LimitReport {
  readonly partition: string;
  /** False where running out denies nothing: a quota that bills, or one whose slower lane decides. */
  readonly canDeny: boolean;
  /** True where `resetAfterMs` leads to one instant for all calls of a window, which the fields then name alike (P04). */
  readonly hasFixedReset: boolean;
  /** Of a quota that ends only past its allowance: the units at which it does. */
  readonly ceiling?: number | undefined;
  /** Of a slower lane: ms until its quota's period ends, and the lane with it. */
  readonly laneEndsAfterMs?: number;
  /** The subject is banned for its denials; `retryAfterMs` covers the ban. */
  readonly isBanned?: boolean;
}

/** What the store said of everything that applies to a call. */
export interface JudgedCharges {
  readonly plan: CallPlan;
  readonly applied: readonly Applied[];
  readonly states: readonly (ChargeState | QuotaState)[];
  /** Units that each rate and quota was judged at. */
  readonly cost: number;
}

/** Retry value of a state whose cost is above the capacity. */
export const NEVER = -1;

/** Reports in policy order: rates, quotas with their slower lanes, calls in flight. */
export function reportsOf(judged: JudgedCharges): GuardReport[] {
  const { applied, states } = judged;
  const [only, state] = [applied[0], states[0]];
  // Most policies: a list that grows has room for 17.
  if (applied.length === 1 && only?.kind === 'rate' && state !== undefined) return [rateReport(only, state, judged)];
  const reports: GuardReport[] = [];
  // By index: this runs on every call, and entries() would make a pair for each.
  for (let index = 0; index < applied.length; index += 1) {
    const one = applied[index];
    const state = states[index];
    if (!one || !state) continue;
    if (one.kind === 'rate') reports.push(rateReport(one, state, judged));
    else if (one.kind === 'quota') quotaReports(reports, one, state, judged);
    else if (one.kind === 'slot') reports.push(slotReport(one, state));
  }
  return reports;
}

/** The rate or quota of which least is left; what clients should steer by. Never calls in flight, which say nothing of the next minute. */
export function smallestShare(limits: readonly GuardReport[]): GuardReport | undefined {
  let smallest: GuardReport | undefined;
  let smallestPart = Number.POSITIVE_INFINITY;
  for (const report of limits) {
    if (!report.canDeny || report.kind === 'concurrency') continue;
    const part = report.capacity === 0 ? 0 : report.remaining / report.capacity;
    if (part >= smallestPart) continue;
    smallest = report;
    smallestPart = part;
  }
  return smallest;
}

function rateReport({ rate, partition }: Extract<Applied, { kind: 'rate' }>, state: ChargeState, { cost }: JudgedCharges): GuardReport {
  const report: GuardReport = {
    kind: 'rate',
    name: rate.limit.name,
    scope: rate.limit.scope,
    limit: rate.limit.limit,
    windowMs: rate.limit.windowMs,
    capacity: rate.capacity,
    cost,
    remaining: state.remaining,
    resetAfterMs: state.resetAfterMs,
    moreAfterMs: state.moreAfterMs,
    retryAfterMs: Math.max(0, state.retryAfterMs),
    isViolated: state.retryAfterMs !== 0,
    partition,
    canDeny: true,
    hasFixedReset: rate.kind === 'window',
  };
  return state.bannedMs === undefined ? report : { ...report, isBanned: true };
}

function quotaReports(reports: GuardReport[], { quota, charge, partition }: Extract<Applied, { kind: 'quota' }>, state: QuotaState, judged: JudgedCharges): void {
  const { allowance, overage, lane, ceiling } = charge;
  // An unlimited quota counts in the ledger and says nothing to the caller.
  if (allowance === null) return;
  const { period } = judged.plan.segment;
  const laneState = lane && 'lane' in state ? state.lane : undefined;
  const isViolated = !laneState && state.retryAfterMs !== 0;
  reports.push({
    kind: 'quota',
    name: quota.name,
    scope: 'tenant',
    limit: allowance,
    windowMs: period.endMs - period.startMs,
    capacity: allowance,
    cost: judged.cost,
    remaining: state.remaining,
    resetAfterMs: state.resetAfterMs,
    moreAfterMs: state.moreAfterMs,
    retryAfterMs: laneState ? 0 : Math.max(0, state.retryAfterMs),
    isViolated,
    partition,
    // One that throttles or bills ends only at its ceiling.
    canDeny: overage === 'reject' || allowance === 0 || isViolated,
    hasFixedReset: true,
    ...(ceiling === undefined ? {} : { ceiling }),
  });
  if (!lane || !laneState) return;
  reports.push({
    kind: 'rate',
    name: throttleName(quota.name),
    scope: 'tenant',
    limit: lane.limit,
    windowMs: lane.windowMs,
    capacity: lane.capacity,
    cost: judged.cost,
    remaining: laneState.remaining,
    resetAfterMs: laneState.resetAfterMs,
    moreAfterMs: laneState.moreAfterMs,
    // Too much for the slower lane passes when the next period opens the full one.
    retryAfterMs: laneState.retryAfterMs === NEVER ? state.resetAfterMs : laneState.retryAfterMs,
    isViolated: laneState.retryAfterMs !== 0,
    partition,
    canDeny: true,
    hasFixedReset: false,
    laneEndsAfterMs: state.resetAfterMs,
  });
}

function slotReport({ charge, partition }: Extract<Applied, { kind: 'slot' }>, state: ChargeState): GuardReport {
  return {
    kind: 'concurrency',
    name: SLOT_NAME,
    scope: 'tenant',
    limit: charge.limit,
    windowMs: 0,
    capacity: charge.limit,
    cost: 1,
    remaining: state.remaining,
    resetAfterMs: state.resetAfterMs,
    moreAfterMs: state.moreAfterMs,
    retryAfterMs: Math.max(0, state.retryAfterMs),
    isViolated: state.retryAfterMs !== 0,
    partition,
    canDeny: true,
    hasFixedReset: false,
  };
}
