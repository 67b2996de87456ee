import { OVERRIDABLE_SCOPES, type DecisionSource, type Segment } from '@quotaplane/contracts';
import type { PolicyCache, StoreClock, Wanted } from '@quotaplane/policy';
import type { Check, LimitStore, Verdict } from '@quotaplane/rate-limit';
import type { CircuitBreaker } from '../degraded/circuit-breaker';
import type { FallbackCause, FallbackDecider } from '../degraded/fallback-decider';
import type { QuotaMemory } from '../degraded/quota-memory';
import type { AdmissionKeeper } from './admission-keeper';
import type { Call } from './call';
import { planOf } from './call-plan';
import { appliedTo, chargesOf } from './charges';
import { decisionOf, type GuardDecision, type Judgement } from './guard-decision';
import { nearestSegment, type KnownPolicies, type KnownPolicy } from './known-policy';
import type { ListedCallers, ListEntry } from './listed-callers';
import { refusedByList } from './listed-decision';
import { blockedDecision } from './refusals';
import type { ShadowJudge } from './shadow-judge';
import type { SubjectOverrides } from './subject-overrides';
import { subjectFieldsOf } from './subject-segments';

export interface DeciderParts {
  readonly store: LimitStore;
  readonly policies: Pick<PolicyCache, 'accept'>;
  readonly known: KnownPolicies;
  readonly wanted: Pick<Wanted, 'want'>;
  readonly clock: StoreClock;
  readonly breaker: CircuitBreaker;
  readonly fallback: FallbackDecider;
  readonly admissions: AdmissionKeeper;
  readonly lists: ListedCallers;
  readonly subjects: SubjectOverrides;
  readonly shadows: ShadowJudge;
  /** What the store said of quotas, for the time when it says nothing. */
  readonly quotas: QuotaMemory;
  readonly onStoreFailure: (cause: string) => void;
  /** Store wait per decision in ms, counted from the call's arrival. */
  readonly storeBudgetMs: number;
}

/** Time for one answer even where finding out who calls took the whole budget, in ms: a slow key index is no proof that the store is away. */
const LEAST_WAIT_MS = 5;
/** A subject's overrides, then a new segment, then the answer: more rounds that bring no newer head are a store in trouble. */
const ROUNDS_MAX = 3;
/** And however fast a tenant is edited: each edit between two rounds brings a newer head (ADR 1). */
const EDITS_MAX = 20;
const SOURCE: DecisionSource = 'store';
const NO_FIELDS: readonly string[] = [];

/** One round's answer: a decision, the reason to fall back, or another round. */
type Round = { readonly decision: GuardDecision } | { readonly fallBack: FallbackCause } | 'again';

/**
 * Decides a call: judges all limits in one step of the store, learns a newer policy or segment on the way and asks again (M1, M2).
 * Never throws for an outage and never waits longer than the budget: the class's fail mode answers then.
 */
export class Decider {
  constructor(private readonly parts: DeciderParts) {}

  decide(call: Call): Promise<GuardDecision> {
    const entry = this.parts.lists.entryOf(call, this.parts.clock.now());
    if (entry === undefined) return this.judge(call);
    return entry.list === 'allow' ? this.judge({ ...call, isExempt: true }) : this.refuse(call, entry);
  }

  private async judge(call: Call): Promise<GuardDecision> {
    const { breaker, fallback } = this.parts;
    if (!breaker.mayPass()) return fallback.decide(call, 'unavailable');
    const answer = await this.askUntilJudged(call);
    return 'decision' in answer ? answer.decision : fallback.decide(call, answer.fallBack);
  }

  /** Needs no store, unless this node has never seen the tenant's policy: even a refusal tells what the policy is. */
  private async refuse(call: Call, entry: ListEntry): Promise<GuardDecision> {
    const { known, breaker, clock, fallback } = this.parts;
    if (breaker.isOpen) return fallback.refuse(call, entry, 'unavailable');
    if (!known.of(call.tenant) && breaker.mayPass()) await this.askUntilJudged({ ...call, cost: 0, isExempt: true });
    return refusedByList({ call, entry, current: known.of(call.tenant), source: SOURCE, nowMs: clock.now() });
  }

  private async askUntilJudged(call: Call): Promise<Exclude<Round, 'again'>> {
    const { breaker, known, storeBudgetMs } = this.parts;
    const deadlineAtMs = Math.max(call.arrivedAtMs + storeBudgetMs, performance.now() + LEAST_WAIT_MS);
    try {
      for (let rounds = 0, edits = 0; rounds < ROUNDS_MAX && edits < EDITS_MAX; ) {
        const head = known.cached(call.tenant)?.head;
        const answer = await this.ask(call, deadlineAtMs);
        if (answer !== 'again') return answer;
        if (head !== undefined && known.cached(call.tenant)?.head !== head) edits += 1;
        else rounds += 1;
      }
      return { fallBack: 'lost' };
    } catch (error) {
      // A fault of ours, not an outage; but a probe that never reports back would keep the circuit open for good.
      breaker.failed();
      throw error;
    }
  }

  /** Not async: a promise of a promise would cost every call turns of the loop. */
  private ask(call: Call, deadlineAtMs: number): Promise<Round> {
    const { known, clock, subjects } = this.parts;
    const cached = known.cached(call.tenant);
    const current = known.of(call.tenant);
    if (!cached || !current) return this.learn(call, cached?.head, deadlineAtMs);
    const segment = nearestSegment(current.policy, clock.now());
    if (!segment) return Promise.resolve(this.lost(call));
    if (current.policy.subjectScopes === undefined) return this.askFor(call, current, segment, NO_FIELDS, deadlineAtMs);
    const fields = subjectFieldsOf(call, current.policy.subjectScopes);
    const own = subjects.segmentOf(call.tenant, fields, current.head, segment, clock.now());
    return own === 'unknown' ? this.learnSubjects(call, current, fields, deadlineAtMs) : this.askFor(call, current, own, fields, deadlineAtMs);
  }

  private async askFor(call: Call, current: KnownPolicy, segment: Segment, subjectFields: readonly string[], deadlineAtMs: number): Promise<Round> {
    const { store, admissions, shadows, quotas } = this.parts;
    const { policy: { revision, status }, generation } = current;
    const plan = planOf(segment, call);
    const isSuspended = status === 'suspended';
    const held = call.holdsSlot === true ? admissions.slotFor(call) : undefined;
    const applied = isSuspended ? [] : appliedTo(plan, call, generation ?? 0, held);
    const onDoubt = isSuspended ? undefined : admissions.doubtOf(call, plan, generation);
    const check: Check = {
      tenant: call.tenant, knownHead: current.head, fromMs: segment.fromMs, untilMs: segment.untilMs, subjectFields, charges: chargesOf(applied),
      ...(onDoubt ? { onDoubt } : {}),
    };
    const asked = store.judgeAndSpend(check, deadlineAtMs);
    const hasShadows = plan.shadows.length > 0 && !isSuspended && call.isExempt !== true;
    const refundShadows = hasShadows ? shadows.judge(call, plan, check, deadlineAtMs) : undefined;
    const verdict = await asked;
    if (!isJudged(verdict)) return this.notJudged(verdict, call, subjectFields, current);
    this.heard(verdict.nowMs);
    if (isSuspended) return { decision: blockedDecision({ call, plan, revision, generation, source: SOURCE, nowMs: verdict.nowMs }) };
    const { states, nowMs } = verdict;
    if (plan.quotas.length > 0) quotas.heard(applied, states);
    const judgement: Judgement = { call, plan, applied, states, isAllowed: verdict.status === 'allowed', source: SOURCE, revision, nowMs };
    const decision = decisionOf(judgement);
    const extras = held || refundShadows ? { held, refundShadows } : undefined;
    if (decision.outcome === 'allowed') return { decision: admissions.admitted(decision, judgement, generation, extras) };
    admissions.denied(call, applied, verdict);
    return { decision };
  }

  /** A check without charges: nothing could be compiled, so only the head matters. It asks for the call's subjects, too, which saves a round. */
  private async learn(call: Call, knownHead: string | undefined, deadlineAtMs: number): Promise<Round> {
    const fields = subjectFieldsOf(call, OVERRIDABLE_SCOPES);
    const verdict = await this.parts.store.judgeAndSpend(emptyCheck(call, knownHead ?? '', fields), deadlineAtMs);
    if (!isJudged(verdict)) return this.notJudged(verdict, call, fields, undefined);
    this.heard(verdict.nowMs);
    // The head was confirmed, but the policy behind it was never seen: the fallback document is missing.
    if (knownHead !== undefined) this.parts.wanted.want('fallback');
    return { fallBack: 'lost' };
  }

  /** Asks for the overrides of this call's own subjects, once under each head: a check that knows no head is answered with them and spends nothing. */
  private async learnSubjects(call: Call, current: KnownPolicy, fields: readonly string[], deadlineAtMs: number): Promise<Round> {
    const verdict = await this.parts.store.judgeAndSpend(emptyCheck(call, '', fields), deadlineAtMs);
    return isJudged(verdict) ? this.lost(call) : this.notJudged(verdict, call, fields, current);
  }

  private notJudged(verdict: Exclude<Verdict, Judged>, call: Call, subjectFields: readonly string[], current: KnownPolicy | undefined): Round {
    const { breaker, clock, onStoreFailure } = this.parts;
    if (verdict.status === 'unavailable') {
      breaker.failed();
      onStoreFailure(verdict.cause);
      return { fallBack: 'unavailable' };
    }
    this.heard(verdict.nowMs);
    if (verdict.status === 'lost') return this.lost(call);
    if (verdict.status === 'stale') return this.accept(call, subjectFields, verdict);
    // Outside: the clock has just learnt the time. No segment holds it: the timeline ran out, and only the worker can go on.
    const isPastEnd = current !== undefined && clock.now() >= (current.policy.segments.at(-1)?.untilMs ?? 0);
    return isPastEnd ? this.lost(call) : 'again';
  }

  private accept(call: Call, subjectFields: readonly string[], answer: Extract<Verdict, { status: 'stale' }>): Round {
    const { policies, subjects } = this.parts;
    if (policies.accept(call.tenant, answer) === 'lost') return this.lost(call);
    if (subjectFields.length > 0) subjects.accept(call.tenant, subjectFields, answer);
    return 'again';
  }

  private lost(call: Call): Round {
    this.parts.wanted.want(`tenant:${call.tenant}`);
    return { fallBack: 'lost' };
  }

  private heard(nowMs: number): void {
    this.parts.clock.observe(nowMs);
    this.parts.breaker.succeeded();
  }
}

type Judged = Extract<Verdict, { states: unknown }>;
const isJudged = (verdict: Verdict): verdict is Judged => 'states' in verdict;

function emptyCheck(call: Call, knownHead: string, subjectFields: readonly string[]): Check {
  return { tenant: call.tenant, knownHead, fromMs: 0, untilMs: Number.MAX_SAFE_INTEGER, subjectFields, charges: [] };
}
