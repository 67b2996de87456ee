import type { DecisionSource, Policy } from '@quotaplane/contracts';
import type { StoreClock } from '@quotaplane/policy';
import type { ChargeState } from '@quotaplane/rate-limit';
import type { AdmissionKeeper } from '../decide/admission-keeper';
import { UNIDENTIFIED, type Call } from '../decide/call';
import { planOf, type CallPlan } from '../decide/call-plan';
import { appliedTo, type Applied } from '../decide/charges';
import { decisionOf, type GuardDecision, type Judgement } from '../decide/guard-decision';
import { nearestSegment, type KnownPolicies, type KnownPolicy } from '../decide/known-policy';
import type { ListedCallers, ListEntry } from '../decide/listed-callers';
import { refusedByList } from '../decide/listed-decision';
import { blockedDecision, unavailableDecision } from '../decide/refusals';
import type { SubjectOverrides } from '../decide/subject-overrides';
import { subjectFieldsOf } from '../decide/subject-segments';
import type { LocalShare } from './local-share';

/** `unavailable`: the store does not answer. `lost`: it answers, but the tenant's policy is not in it. */
export type FallbackCause = 'unavailable' | 'lost';

export interface FallbackParts {
  readonly known: KnownPolicies;
  readonly share: LocalShare;
  readonly clock: StoreClock;
  readonly admissions: AdmissionKeeper;
  readonly lists: ListedCallers;
  readonly subjects: SubjectOverrides;
  /** Rules until the first policy is seen. */
  readonly defaults: Policy;
  readonly onFallback: (call: Call, decision: GuardDecision, cause: FallbackCause) => void;
}

/** Asked again after this long, a closed class may well be open: the breaker probes at least that often. */
const CLOSED_RETRY_MS = 1000;

/** Decides without the store, by the class's fail mode: this node's share of each limit, everything, or nothing. */
export class FallbackDecider {
  constructor(private readonly parts: FallbackParts) {}

  async decide(call: Call, cause: FallbackCause): Promise<GuardDecision> {
    const { lists, clock, onFallback } = this.parts;
    // The decider has looked already; nobody has for a caller whose key could not be looked up.
    const entry = call.tenant === UNIDENTIFIED ? lists.entryOf(call, clock.now()) : undefined;
    if (entry !== undefined && entry.list !== 'allow') return this.refuse(call, entry, cause);
    const decision = await this.byMode(entry === undefined ? call : { ...call, isExempt: true }, cause);
    onFallback(call, decision, cause);
    return decision;
  }

  /** A caller on the deny list or under a penalty, while the store is away: the last known lists hold, and the answer says so. */
  refuse(call: Call, entry: ListEntry, cause: FallbackCause): GuardDecision {
    const { known, clock, defaults, onFallback } = this.parts;
    const current = known.of(call.tenant);
    const decision = refusedByList({ call, entry, current: current ?? { policy: defaults, generation: undefined }, source: current ? 'local' : 'default', nowMs: clock.now() });
    onFallback(call, decision, cause);
    return decision;
  }

  private async byMode(call: Call, cause: FallbackCause): Promise<GuardDecision> {
    const { known, defaults, clock } = this.parts;
    const current = known.of(call.tenant);
    const policy = current?.policy ?? defaults;
    const plan = this.planFor(call, policy, current?.head);
    const source: DecisionSource = current ? (cause === 'lost' ? 'last-known' : 'local') : 'default';
    // Who is on the allow list would not be limited by the store either.
    if (!plan || call.class.failMode === 'closed' && call.isExempt !== true) {
      return unavailableDecision({ call, plan, revision: policy.revision, generation: current?.generation, source, retryAfterMs: CLOSED_RETRY_MS });
    }
    if (policy.status === 'suspended') return blockedDecision({ call, plan, revision: policy.revision, generation: current?.generation, source, nowMs: clock.now() });
    const applied = appliedTo(plan, call, current?.generation ?? 0);
    return call.class.failMode === 'open' ? this.openly(call, plan, applied, current, policy) : this.byShare({ call, plan, applied, current, policy, source });
  }

  private planFor(call: Call, policy: Policy, head: string | undefined): CallPlan | undefined {
    const { subjects, clock } = this.parts;
    const nowMs = clock.now();
    const segment = nearestSegment(policy, nowMs);
    if (!segment) return undefined;
    if (policy.subjectScopes === undefined || head === undefined) return planOf(segment, call);
    return planOf(subjects.lastSegmentOf(call.tenant, subjectFieldsOf(call, policy.subjectScopes), head, segment, nowMs), call);
  }

  /** Nothing is counted, so that nothing but the journal is owed. */
  private openly(call: Call, plan: CallPlan, applied: readonly Applied[], current: KnownPolicy | undefined, { revision }: Policy): GuardDecision {
    const nowMs = this.parts.clock.now();
    const asked = applied.filter((one) => one.kind === 'rate' || one.kind === 'quota' && one.charge.allowance === 0);
    const states = asked.map(untouched);
    const judgement: Judgement = { call, plan, applied: asked, states, isAllowed: true, source: 'open', revision, nowMs };
    const decision = decisionOf(judgement);
    if (decision.outcome === 'denied') return decision;
    return this.parts.admissions.admitted(decision, { ...judgement, applied: [], states: [] }, current?.generation);
  }

  private async byShare({ call, plan, applied: all, current, policy: { revision }, source }: ShareFacts): Promise<GuardDecision> {
    const { share, admissions } = this.parts;
    const applied = all.filter((one) => share.isJudged(one));
    const refused = { call, plan, revision, generation: current?.generation, source, retryAfterMs: CLOSED_RETRY_MS };
    const judged = await share.judge(call, plan, applied);
    if (!judged) return unavailableDecision(refused);
    const { states, isAllowed, nowMs, isSlotTaken } = judged;
    const judgement: Judgement = { call, plan, applied, states, isAllowed, source, revision, nowMs };
    const decision = decisionOf(judgement);
    if (judged.isShareTooSmall) return unavailableDecision({ ...refused, limits: decision.limits });
    if (decision.outcome === 'denied') return decision;
    return admissions.admitted(decision, judgement, current?.generation, { isSlotTaken });
  }
}

interface ShareFacts {
  readonly call: Call;
  readonly plan: CallPlan;
  readonly applied: readonly Applied[];
  readonly current: KnownPolicy | undefined;
  readonly policy: Policy;
  readonly source: DecisionSource;
}

/** Figures of a limit of which nothing is known to be used. */
function untouched(one: Applied): ChargeState {
  const remaining = one.kind === 'rate' ? one.rate.capacity : one.kind === 'quota' ? (one.charge.allowance ?? 0) : 0;
  return { remaining, resetAfterMs: 0, retryAfterMs: 0, moreAfterMs: 0 };
}
