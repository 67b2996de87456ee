import type { DecisionSource, Policy } from '@quotaplane/contracts';
import type { NodeDirectory, StoreClock } from '@quotaplane/policy';
import type { Charge, ChargeState, LimitStore } from '@quotaplane/rate-limit';
import type { Call } from '../decide/call';
import { planOf, type CallPlan } from '../decide/call-plan';
import { appliedTo, rateCharge, type Applied } from '../decide/charges';
import { blockedDecision, decisionOf, unavailableDecision, type GuardDecision } from '../decide/guard-decision';
import { nearestSegment, type KnownPolicies } from '../decide/known-policy';
import type { UsageRecorder } from '../decide/usage-recorder';

/** `unavailable`: the store does not answer. `lost`: it answers, but the tenant's policy is not in it. */
export type FallbackCause = 'unavailable' | 'lost';

export interface FallbackParts {
  readonly known: KnownPolicies;
  /** Counts this node's own calls; never leaves the process. */
  readonly localStore: LimitStore;
  readonly directory: Pick<NodeDirectory, 'shareOf'>;
  readonly incarnation: string;
  readonly clock: StoreClock;
  readonly usage: UsageRecorder;
  /** Rules until the first policy is seen. */
  readonly defaults: Policy;
  readonly onFallback: (call: Call, decision: GuardDecision, cause: FallbackCause) => void;
}

/** Asked again after this long, a closed class may well be open: the breaker probes at least that often. */
const CLOSED_RETRY_MS = 1000;
/** The in-process store answers at once; the deadline is there for its interface. */
const NO_DEADLINE = Number.POSITIVE_INFINITY;

/** Decides without the store, by the class's fail mode: this node's share of each limit, everything, or nothing. */
export class FallbackDecider {
  constructor(private readonly parts: FallbackParts) {}

  async decide(call: Call, cause: FallbackCause): Promise<GuardDecision> {
    const decision = await this.byMode(call, cause);
    this.parts.onFallback(call, decision, cause);
    return decision;
  }

  private async byMode(call: Call, cause: FallbackCause): Promise<GuardDecision> {
    const { known, defaults, clock, usage } = this.parts;
    const current = known.of(call.tenant);
    const policy = current?.policy ?? defaults;
    const segment = nearestSegment(policy, clock.now());
    const plan = segment && planOf(segment, call);
    const source: DecisionSource = current ? (cause === 'lost' ? 'last-known' : 'local') : 'default';
    if (!plan || call.class.failMode === 'closed') {
      return unavailableDecision({ call, plan, revision: policy.revision, source, retryAfterMs: CLOSED_RETRY_MS });
    }
    if (policy.status === 'suspended') return blockedDecision({ call, plan, revision: policy.revision, source, nowMs: clock.now() });
    const applied = appliedTo(plan, call, current?.generation ?? 0).filter(isJudgedLocally);
    const decision =
      call.class.failMode === 'open'
        ? decisionOf({ call, plan, applied, states: applied.map(untouched), isAllowed: true, source: 'open', revision: policy.revision, nowMs: clock.now() })
        : await this.byShare(call, plan, applied, policy, source);
    if (decision.outcome === 'allowed') usage.admittedDegraded(call, plan, current?.generation);
    return decision;
  }

  private async byShare(call: Call, plan: CallPlan, applied: readonly Applied[], policy: Policy, source: DecisionSource): Promise<GuardDecision> {
    const { localStore, directory, incarnation } = this.parts;
    const share = (units: number): number => directory.shareOf(units, incarnation);
    const charges = applied.map((one) => (one.kind === 'rate' ? rateCharge(one.rate, one.charge.counter, call.cost, share) : one.charge));
    const { fromMs, untilMs } = plan.segment;
    const verdict = await localStore.judgeAndSpend({ tenant: call.tenant, knownHead: '', fromMs, untilMs, subjectFields: [], charges }, NO_DEADLINE);
    const refused = { call, plan, revision: policy.revision, source, retryAfterMs: CLOSED_RETRY_MS };
    if (!('states' in verdict)) return unavailableDecision(refused);
    const { states, status, nowMs } = verdict;
    const decision = decisionOf({ call, plan, applied, states, isAllowed: status === 'allowed', source, revision: policy.revision, nowMs });
    return isShareTooSmall(call, applied, charges) ? unavailableDecision({ ...refused, limits: decision.limits }) : decision;
  }
}

/** Too much for this node's share, yet not for the limit itself: that is the outage's fault, not the caller's. */
function isShareTooSmall(call: Call, applied: readonly Applied[], charges: readonly Charge[]): boolean {
  let isSmall = false;
  for (const [index, one] of applied.entries()) {
    const charge = charges[index];
    if (one.kind !== 'rate' || !charge || charge.kind === 'quota' || one.rate.capacity === 0) continue;
    if (call.cost > one.rate.capacity) return false;
    const held = charge.kind === 'bucket' ? charge.capacity : charge.limit;
    if (held === 0 || call.cost > held) isSmall = true;
  }
  return isSmall;
}

/** A node alone cannot know what the fleet has used of a month; the ledger settles it later. A quota of 0 needs no knowledge. */
function isJudgedLocally(one: Applied): boolean {
  return one.kind === 'rate' || one.charge.allowance === 0;
}

/** Figures of a limit of which nothing is known to be used. */
function untouched(one: Applied): ChargeState {
  const remaining = one.kind === 'rate' ? one.rate.capacity : (one.charge.allowance ?? 0);
  return { remaining, resetAfterMs: 0, retryAfterMs: 0, moreAfterMs: 0 };
}
