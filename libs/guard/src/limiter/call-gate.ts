import { CallBuilder } from '../call-builder';
import { CostFaultLog } from '../cost-fault-log';
import type { Call } from '../decide/call';
import type { GuardDecision } from '../decide/guard-decision';
import type { HandlerRules } from '../handler-rules';
import { denialProblem, problemOf } from '../http/denial-problem';
import type { QuotaProblem } from '../http/quota-problem';
import { exposedFields, fieldsOf, type ResponseField } from '../http/ratelimit-fields';
import { requestIdOf } from '../http/request-facts';
import type { GuardedRequest, Identity } from '../identity/identity';
import type { LimiterNode } from './limiter-node';

/** One call on its way in: what was asked, by whom, and what the service says about it. */
export interface Arrival {
  readonly request: GuardedRequest;
  readonly rules: HandlerRules;
  readonly identity: Identity;
  /** Monotonic instant (`performance.now()`) at which the call came in. */
  readonly arrivedAtMs: number;
}

/** What a call is told. */
export interface Admission {
  /** Undefined: refused before anything was judged, for its credentials are wrong. */
  readonly decision: (GuardDecision) | undefined;
  readonly fields: readonly ResponseField[];
  /** Present: the call must not go on, and this is its answer. */
  readonly problem: QuotaProblem | undefined;
}

/** Decides calls, whatever framework brought them, and says what to answer. */
export class CallGate {
  /** Names of all fields, for Access-Control-Expose-Headers. */
  readonly exposed: string;
  private readonly calls: CallBuilder;
  private readonly costFaults: CostFaultLog;

  constructor(private readonly node: LimiterNode) {
    this.calls = new CallBuilder(node.catalogue, node.addresses, node.options);
    this.exposed = exposedFields(node.options);
    this.costFaults = new CostFaultLog((line) => node.logger.warn(line));
  }

  /**
   * Not async: a promise of a promise would cost every call turns of the loop.
   * @throws whatever a `@Cost` or `@Subject` function throws
   */
  admit({ request, rules, identity, arrivedAtMs }: Arrival): Promise<Admission> {
    if (identity.kind === 'unauthenticated') return Promise.resolve(this.unauthenticated(request, identity.detail));
    const call = this.calls.build(request, rules, identity, arrivedAtMs);
    return this.decide(call, identity).then((decision) => this.admissionOf(request, call, decision));
  }

  private admissionOf(request: GuardedRequest, call: Call, decision: GuardDecision): Admission {
    const costFault = decision.outcome === 'allowed' ? call.costFault : undefined;
    if (costFault === undefined) this.node.usage.decided(call, decision);
    this.node.metrics.decided(decision, call.class.slug, performance.now() - call.arrivedAtMs, costFault === undefined ? undefined : 'invalid');
    const fields = fieldsOf(decision, this.node.options);
    if (costFault !== undefined) return { decision, fields, problem: this.costRefusal(request, call, costFault) };
    return { decision, fields, problem: decision.outcome === 'allowed' ? undefined : this.denial(request, decision) };
  }

  /** Body of a denial. */
  denial(request: GuardedRequest, decision: GuardDecision): QuotaProblem {
    return denialProblem(decision, { requestId: requestIdOf(request), docsUrl: this.node.options.docsUrl });
  }

  private decide(call: Call, identity: Identity): Promise<GuardDecision> {
    // Nobody can say who calls: never the anonymous tier, whose limits are for callers without credentials.
    return identity.kind === 'unavailable' ? this.node.fallback.decide(call, 'unavailable') : this.node.decider.decide(call);
  }

  private unauthenticated(request: GuardedRequest, detail = 'the credentials are wrong'): Admission {
    return { decision: undefined, fields: [['WWW-Authenticate', 'ApiKey']], problem: problemOf('unauthenticated', detail, { requestId: requestIdOf(request) }) };
  }

  private costRefusal(request: GuardedRequest, call: Call, fault: string): QuotaProblem {
    this.costFaults.record(call.class.slug, fault);
    return problemOf('invalid', fault, { requestId: requestIdOf(request) });
  }
}
