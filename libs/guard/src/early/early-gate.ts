import type { Call } from '../decide/call';
import { UsageRecorder } from '../decide/usage-recorder';
import { defaultPolicy } from '../degraded/default-policy';
import { Answer, type HttpAnswer } from '../http/answer';
import type { QuotaProblem } from '../http/quota-problem';
import { fieldsOf } from '../http/ratelimit-fields';
import type { GuardedRequest } from '../identity/identity';
import { settleWith } from '../limiter/admitted-answer';
import type { CallGate } from '../limiter/call-gate';
import type { DecisionLoop } from '../decide/decision-kit';
import type { LimiterNode } from '../limiter/limiter-node';
import { EARLY_CLASS, EarlyPolicies } from './early-policies';

/** The reserved tenant whose policy holds the early limits. */
const PLATFORM_TENANT = 'platform';
const EARLY_COST = 1;
const EARLY_METER = 'requests';

/** Judges a request before anything is known of it but its address: by the early limits of the reserved tenant `platform`. Journals no usage. */
export class EarlyGate {
  private readonly loop: DecisionLoop;

  constructor(
    private readonly node: LimiterNode,
    private readonly gate: CallGate,
  ) {
    this.loop = node.loopWith({ known: new EarlyPolicies(node.policies, node.catalogue), usage: unjournaled(), defaults: defaultPolicy([]) });
  }

  /** @returns the answer to a request that must not go on */
  async judge(request: GuardedRequest, response: HttpAnswer): Promise<QuotaProblem | undefined> {
    const { metrics, options } = this.node;
    const call = this.callOf(request);
    const decision = await this.loop.decider.decide(call);
    metrics.decided(decision, EARLY_CLASS, performance.now() - call.arrivedAtMs);
    const answer = new Answer(response);
    if (options.cors.expose && request.headers['origin'] !== undefined) answer.expose(this.gate.exposed);
    answer.set(fieldsOf(decision, options));
    if (decision.outcome !== 'allowed') return this.gate.denial(request, decision);
    // A queue's turn is waited for here; a caller who goes before it gets everything back.
    await settleWith(answer, decision);
    return undefined;
  }

  private callOf(request: GuardedRequest): Call {
    const known = this.node.catalogue.classes()?.classes[EARLY_CLASS];
    return {
      tenant: PLATFORM_TENANT,
      isAnonymous: false,
      class: { slug: EARLY_CLASS, meter: EARLY_METER, failMode: known?.failMode ?? this.node.options.failMode },
      method: request.method,
      // Nothing is routed yet.
      route: '*',
      cost: EARLY_COST,
      address: this.node.addresses.of(request),
      arrivedAtMs: performance.now(),
    };
  }
}

/** An early decision is nobody's usage: the guard's own, later on the same request, is. */
function unjournaled(): UsageRecorder {
  const nothing = (): void => undefined;
  const journal = { admit: nothing, admitDegraded: nothing, refund: () => 0, doubt: nothing };
  return new UsageRecorder(journal, { record: nothing }, { allowed: nothing, denied: nothing });
}
