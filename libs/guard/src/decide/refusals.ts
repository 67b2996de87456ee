import type { DecisionSource } from '@quotaplane/contracts';
import type { Call } from './call';
import type { CallPlan } from './call-plan';
import { appliedTo } from './charges';
import type { GuardDecision } from './guard-decision';
import { reportsOf, type GuardReport } from './reports';

/** Longest time until anything changes that a blocked caller is told, in ms; a hint. */
const HINT_MAX_MS = 86_400_000;
const HINT_MIN_MS = 1000;

interface RefusalFacts {
  readonly call: Call;
  readonly plan: CallPlan | undefined;
  readonly revision: number;
  /** Of the quota counters, so that a refusal names the same counters as the calls before it; undefined where nobody is billed. */
  readonly generation: number | undefined;
  readonly source: DecisionSource;
}

/** A suspended account, or a caller on the deny list: refused whatever the limits would say. */
export function blockedDecision(facts: RefusalFacts & { readonly nowMs: number; readonly untilMs?: number | null }): GuardDecision {
  const { plan, nowMs } = facts;
  const untilMs = facts.untilMs ?? plan?.segment.untilMs ?? nowMs;
  return { ...refusal(facts), outcome: 'denied', code: 'blocked', limits: exhausted(facts, hintMs(untilMs - nowMs)) };
}

/** A penalty set by hand: refused until it ends. @param facts.untilMs null: until somebody lifts it */
export function penalisedDecision(facts: RefusalFacts & { readonly nowMs: number; readonly untilMs: number | null }): GuardDecision {
  const { nowMs, untilMs } = facts;
  const retryAfterMs = untilMs === null ? HINT_MAX_MS : Math.max(1, untilMs - nowMs);
  return { ...refusal(facts), outcome: 'denied', code: 'penalised', limits: exhausted(facts, retryAfterMs), retryAfterMs };
}

/** The store is away and the class does not go on without it, or this node's share cannot hold the call. */
export function unavailableDecision(facts: RefusalFacts & { readonly retryAfterMs: number; readonly limits?: readonly GuardReport[] }): GuardDecision {
  const { retryAfterMs } = facts;
  return { ...refusal(facts), outcome: 'denied', code: 'limiter_unavailable', limits: facts.limits ?? exhausted(facts, retryAfterMs), retryAfterMs };
}

const hintMs = (leftMs: number): number => Math.min(HINT_MAX_MS, Math.max(HINT_MIN_MS, leftMs));

function refusal({ call, plan, revision, source }: RefusalFacts): Pick<GuardDecision, 'source' | 'tenant' | 'tier' | 'revision' | 'cost' | 'plan'> {
  return { source, tenant: call.tenant, tier: plan?.segment.tier ?? 'default', revision, cost: call.cost, ...(plan ? { plan } : {}) };
}

/** Reports of a refusal that no limit caused: nothing is available until `afterMs`, and none is violated. */
function exhausted({ call, plan, generation }: RefusalFacts, afterMs: number): GuardReport[] {
  if (!plan) return [];
  const applied = appliedTo(plan, call, generation ?? 0);
  const state = { remaining: 0, resetAfterMs: afterMs, moreAfterMs: afterMs, retryAfterMs: 0 };
  return reportsOf({ plan, applied, cost: call.cost, states: applied.map(() => state) });
}
