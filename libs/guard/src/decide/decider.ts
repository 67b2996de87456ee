import { OVERRIDABLE_SCOPES, type DecisionSource } from '@quotaplane/contracts';
import type { PolicyCache, StoreClock, Wanted } from '@quotaplane/policy';
import type { LimitStore, Verdict } from '@quotaplane/rate-limit';
import type { CircuitBreaker } from '../degraded/circuit-breaker';
import type { FallbackCause, FallbackDecider } from '../degraded/fallback-decider';
import type { QuotaMemory } from '../degraded/quota-memory';
import type { AdmissionKeeper } from './admission-keeper';
import type { Call } from './call';
import { planOf, type CallPlan } from './call-plan';
import type { CallShape } from './call-shape';
import type { DeniedCall, DeniedCalls } from './denied-calls';
import { decisionOf, type GuardDecision, type Judgement } from './guard-decision';
import { nearestSegment, type KnownPolicies, type KnownPolicy } from './known-policy';
import type { ListedCallers, ListEntry } from './listed-callers';
import { refusedByList } from './listed-decision';
import { blockedDecision } from './refusals';
import { chargesQuestion, NO_FIELDS, rulesQuestion, type ChargesQuestion, type Question, type RulesQuestion } from './question';
import type { ShadowJudge } from './shadow-judge';
import type { SubjectOverrides } from './subject-overrides';
import { mayBeRemembered } from './sure-denial';
import { subjectFieldsOf } from './subject-segments';
import { usualFor, usualShapeOf } from './usual-call';

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
  /** Who is surely denied for now. */
  readonly denied: DeniedCalls;
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

/** One round's answer: a decision, the reason to fall back, or another round. */
type Round = GuardDecision | FallbackCause | 'again';
/** What answers where the store does not. */
type Otherwise = (call: Call, cause: FallbackCause) => Promise<GuardDecision>;

/**
 * Decides a call: judges all limits in one step of the store, learns a newer policy or segment on the way and asks again (M1, M2).
 * Never throws for an outage and never waits longer than the budget: the class's fail mode answers then.
 */
export class Decider {
  constructor(private readonly parts: DeciderParts) {}

  decide(call: Call): Promise<GuardDecision> {
    const { lists, clock } = this.parts;
    const atMs = clock.monotonicMs();
    const entry = lists.entryOf(call, clock.at(atMs));
    if (entry === undefined) return this.judge(call, atMs);
    return entry.list === 'allow' ? this.judge({ ...call, isExempt: true }, atMs) : this.refuse(call, entry, atMs);
  }

  private judge(call: Call, atMs: number): Promise<GuardDecision> {
    const { breaker, fallback } = this.parts;
    const question = this.questionOf(call, atMs);
    if (typeof question === 'object' && question.kind === 'denied') return question.answer;
    if (!breaker.mayPass()) return fallback.decide(call, 'unavailable');
    return this.ask(call, question, atMs, this.fallBack);
  }

  private readonly fallBack: Otherwise = (call, cause) => this.parts.fallback.decide(call, cause);

  /** Needs no store, unless this node has never seen the tenant's policy: even a refusal tells what the policy is. */
  private async refuse(call: Call, entry: ListEntry, atMs: number): Promise<GuardDecision> {
    const { known, breaker, clock, fallback } = this.parts;
    if (breaker.isOpen) return fallback.refuse(call, entry, 'unavailable');
    const refused = (): GuardDecision => refusedByList({ call, entry, current: known.of(call.tenant), source: SOURCE, nowMs: clock.now() });
    if (known.of(call.tenant) || !breaker.mayPass()) return refused();
    const learning: Call = { ...call, cost: 0, isExempt: true };
    await this.ask(learning, this.questionOf(learning, atMs), atMs, () => Promise.resolve(refused()));
    return refused();
  }

  /** The one wait of a decision: each async function more would cost every call turns of the loop. */
  private async ask(call: Call, first: Question | DeniedCall | FallbackCause, atMs: number, otherwise: Otherwise): Promise<GuardDecision> {
    const { breaker, clock, known, store, storeBudgetMs } = this.parts;
    const deadlineAtMs = Math.max(call.arrivedAtMs + storeBudgetMs, atMs + LEAST_WAIT_MS);
    let question: Question | DeniedCall | FallbackCause = first;
    try {
      for (let rounds = 0, edits = 0; rounds < ROUNDS_MAX && edits < EDITS_MAX; ) {
        if (typeof question === 'string') return otherwise(call, question);
        if (question.kind === 'denied') return question.answer;
        const asked = store.judgeAndSpend(question.check, deadlineAtMs);
        const refundShadows = question.kind === 'charges' ? this.shadowsOf(call, question, deadlineAtMs) : undefined;
        const verdict = await asked;
        const answer: Round = question.kind === 'charges' ? this.judged(call, question, verdict, refundShadows) : this.learnt(call, question, verdict);
        if (typeof answer === 'object') return answer;
        if (answer !== 'again') return otherwise(call, answer);
        if (question.head !== undefined && known.cached(call.tenant)?.head !== question.head) edits += 1;
        else rounds += 1;
        question = this.questionOf(call, clock.monotonicMs());
      }
    } catch (error) {
      // A fault of ours, not an outage; but a probe that never reports back would keep the circuit open for good.
      breaker.failed();
      throw error;
    }
    return otherwise(call, 'lost');
  }

  /** By what this node knows now: what to ask the store, or what it has said already. */
  private questionOf(call: Call, atMs: number): Question | DeniedCall | FallbackCause {
    const { known, clock, subjects } = this.parts;
    const cached = known.cached(call.tenant);
    const current = cached && known.behind(cached);
    if (!cached || !current) return rulesQuestion(call, undefined, cached?.head, subjectFieldsOf(call, OVERRIDABLE_SCOPES));
    const nowMs = clock.at(atMs);
    const usual = usualFor(current, call, nowMs);
    if (usual) return this.chargesOrDenied(call, current, usual.plan, usual.shape, NO_FIELDS, cached.isStale, atMs);
    const { policy, head } = current;
    const around = nearestSegment(policy, nowMs);
    if (!around) return this.lost(call);
    const fields = policy.subjectScopes === undefined ? NO_FIELDS : subjectFieldsOf(call, policy.subjectScopes);
    const segment = fields === NO_FIELDS ? around : subjects.segmentOf(call.tenant, fields, head, around, nowMs);
    // Once under each head: a check that knows no head is answered with them and spends nothing.
    if (segment === 'unknown') return rulesQuestion(call, current, head, fields);
    const plan = planOf(segment, call);
    return this.chargesOrDenied(call, current, plan, usualShapeOf(plan, call, current), fields, cached.isStale, atMs);
  }

  private chargesOrDenied(call: Call, current: KnownPolicy, plan: CallPlan, shape: CallShape, fields: readonly string[], isStale: boolean, atMs: number): Question | DeniedCall {
    const { denied, admissions } = this.parts;
    if (shape.denied !== undefined && !isStale && mayBeRemembered(call)) {
      const surely = denied.recall(shape, call, current, atMs);
      if (surely) return surely;
    }
    return chargesQuestion({ call, current, plan, shape, fields, admissions, sentAtMs: atMs });
  }

  private shadowsOf(call: Call, { plan, isSuspended, check }: ChargesQuestion, deadlineAtMs: number): (() => void) | undefined {
    if (plan.shadows.length === 0 || isSuspended || call.isExempt === true) return undefined;
    return this.parts.shadows.judge(call, plan, check, deadlineAtMs);
  }

  private judged(call: Call, question: ChargesQuestion, verdict: Verdict, refundShadows: (() => void) | undefined): Round {
    const { admissions, quotas, denied } = this.parts;
    const { current, plan, applied, held } = question;
    if (!isJudged(verdict)) {
      if (verdict.status === 'unavailable') denied.openForLateRefund(call.tenant);
      return this.notJudged(verdict, call, question);
    }
    this.heard(verdict.nowMs);
    const { generation, policy: { revision } } = current;
    const { states, nowMs } = verdict;
    if (question.isSuspended) return blockedDecision({ call, plan, revision, generation, source: SOURCE, nowMs });
    if (plan.quotas.length > 0) quotas.heard(applied, states);
    const judgement: Judgement = { call, plan, applied, states, isAllowed: verdict.status === 'allowed', source: SOURCE, revision, nowMs };
    const decision = decisionOf(judgement);
    const extras = held || refundShadows ? { held, refundShadows } : undefined;
    if (decision.outcome === 'allowed') return admissions.admitted(decision, judgement, generation, extras);
    admissions.denied(call, applied, verdict);
    if (!judgement.isAllowed) denied.remember(call, question, verdict, decision);
    return decision;
  }

  private learnt(call: Call, question: RulesQuestion, verdict: Verdict): Round {
    if (!isJudged(verdict)) return this.notJudged(verdict, call, question);
    this.heard(verdict.nowMs);
    if (question.current) return this.lost(call);
    // The head was confirmed, but the policy behind it was never seen: the fallback document is missing.
    this.parts.wanted.want('fallback');
    return 'lost';
  }

  private notJudged(verdict: Exclude<Verdict, Judged>, call: Call, { current, check: { subjectFields } }: Question): Round {
    const { breaker, clock, onStoreFailure } = this.parts;
    if (verdict.status === 'unavailable') {
      breaker.failed();
      onStoreFailure(verdict.cause);
      return 'unavailable';
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

  private lost(call: Call): FallbackCause {
    this.parts.wanted.want(`tenant:${call.tenant}`);
    return 'lost';
  }

  private heard(nowMs: number): void {
    this.parts.clock.observe(nowMs);
    this.parts.breaker.succeeded();
  }
}

type Judged = Extract<Verdict, { states: unknown }>;
const isJudged = (verdict: Verdict): verdict is Judged => 'states' in verdict;
