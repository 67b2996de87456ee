import type { PolicyCache, StoreClock, Wanted } from '@quotaplane/policy';
import type { Check, LimitStore, Verdict } from '@quotaplane/rate-limit';
import type { CircuitBreaker } from '../degraded/circuit-breaker';
import type { FallbackCause, FallbackDecider } from '../degraded/fallback-decider';
import type { Call } from './call';
import { planOf } from './call-plan';
import { appliedTo } from './charges';
import { blockedDecision, decisionOf, type GuardDecision } from './guard-decision';
import { nearestSegment, type KnownPolicies, type KnownPolicy } from './known-policy';
import type { UsageRecorder } from './usage-recorder';

export interface DeciderParts {
  readonly store: LimitStore;
  readonly policies: Pick<PolicyCache, 'accept'>;
  readonly known: KnownPolicies;
  readonly wanted: Pick<Wanted, 'want'>;
  readonly clock: StoreClock;
  readonly breaker: CircuitBreaker;
  readonly fallback: FallbackDecider;
  readonly usage: UsageRecorder;
  readonly onStoreFailure: (cause: string) => void;
  /** Store wait per decision in ms, counted from the call's arrival. */
  readonly storeBudgetMs: number;
}

/** Time for one answer even where finding out who calls took the whole budget, in ms: a slow key index is no proof that the store is away. */
const LEAST_WAIT_MS = 5;
/** A new policy, then a new segment, then the answer: more rounds than that are a store in trouble. */
const ROUNDS_MAX = 3;

/** One round's answer: a decision, the reason to fall back, or another round. */
type Round = { readonly decision: GuardDecision } | { readonly fallBack: FallbackCause } | 'again';

/**
 * Decides a call: judges all limits in one step of the store, learns a newer policy or segment on the way and asks again (M1, M2).
 * Never throws for an outage and never waits longer than the budget: the class's fail mode answers then.
 */
export class Decider {
  constructor(private readonly parts: DeciderParts) {}

  async decide(call: Call): Promise<GuardDecision> {
    const { breaker, fallback, storeBudgetMs } = this.parts;
    const deadlineAtMs = Math.max(call.arrivedAtMs + storeBudgetMs, performance.now() + LEAST_WAIT_MS);
    if (!breaker.mayPass()) return fallback.decide(call, 'unavailable');
    const answer = await this.askUntilJudged(call, deadlineAtMs).catch((error: unknown) => {
      // A fault of ours, not an outage; but a probe that never reports back would keep the circuit open for good.
      breaker.failed();
      throw error;
    });
    return 'decision' in answer ? answer.decision : fallback.decide(call, answer.fallBack);
  }

  private async askUntilJudged(call: Call, deadlineAtMs: number): Promise<Exclude<Round, 'again'>> {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const answer = await this.ask(call, deadlineAtMs);
      if (answer !== 'again') return answer;
    }
    return { fallBack: 'lost' };
  }

  private async ask(call: Call, deadlineAtMs: number): Promise<Round> {
    const { known, store, clock } = this.parts;
    const cached = known.cached(call.tenant);
    const current = known.of(call.tenant);
    if (!cached || !current) return this.learn(await store.judgeAndSpend(emptyCheck(call, cached?.head ?? ''), deadlineAtMs), call, cached !== undefined);
    const segment = nearestSegment(current.policy, clock.now());
    if (!segment) return this.lost(call);
    const plan = planOf(segment, call);
    const isSuspended = current.policy.status === 'suspended';
    const applied = isSuspended ? [] : appliedTo(plan, call, current.generation ?? 0);
    const check: Check = {
      tenant: call.tenant, knownHead: current.head, fromMs: segment.fromMs, untilMs: segment.untilMs, subjectFields: [],
      charges: applied.map(({ charge }) => charge),
    };
    const verdict = await store.judgeAndSpend(check, deadlineAtMs);
    if (!isJudged(verdict)) return this.notJudged(verdict, call, current);
    this.heard(verdict.nowMs);
    const { revision } = current.policy;
    if (isSuspended) return { decision: blockedDecision({ call, plan, revision, source: 'store', nowMs: verdict.nowMs }) };
    const decision = decisionOf({
      call, plan, applied, states: verdict.states, isAllowed: verdict.status === 'allowed', source: 'store', revision, nowMs: verdict.nowMs,
    });
    if (decision.outcome === 'allowed') this.parts.usage.admitted(call, plan, current.generation);
    return { decision };
  }

  /** The answer to a check without charges: nothing could be compiled, so only the head matters. */
  private learn(verdict: Verdict, call: Call, isFallbackMissing: boolean): Round {
    if (!isJudged(verdict)) return this.notJudged(verdict, call, undefined);
    this.heard(verdict.nowMs);
    // The head was confirmed, but the policy behind it was never seen: the fallback document is missing.
    if (isFallbackMissing) this.parts.wanted.want('fallback');
    return { fallBack: 'lost' };
  }

  private notJudged(verdict: Exclude<Verdict, Judged>, call: Call, current: KnownPolicy | undefined): Round {
    const { policies, breaker, clock, onStoreFailure } = this.parts;
    if (verdict.status === 'unavailable') {
      breaker.failed();
      onStoreFailure(verdict.cause);
      return { fallBack: 'unavailable' };
    }
    this.heard(verdict.nowMs);
    if (verdict.status === 'lost') return this.lost(call);
    if (verdict.status === 'stale') return policies.accept(call.tenant, verdict) === 'accepted' ? 'again' : this.lost(call);
    // Outside: the clock has just learnt the time. No segment holds it: the timeline ran out, and only the worker can go on.
    const isPastEnd = current !== undefined && clock.now() >= (current.policy.segments.at(-1)?.untilMs ?? 0);
    return isPastEnd ? this.lost(call) : 'again';
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

function emptyCheck(call: Call, knownHead: string): Check {
  return { tenant: call.tenant, knownHead, fromMs: 0, untilMs: Number.MAX_SAFE_INTEGER, subjectFields: [], charges: [] };
}
