import { Inject, Injectable, Logger, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { CallBuilder } from './call-builder';
import { CostFaultLog } from './cost-fault-log';
import type { Call } from './decide/call';
import type { GuardDecision } from './decide/guard-decision';
import { HandlerRulesReader } from './handler-rules';
import { Answer } from './http/answer';
import { denialProblem, problemOf } from './http/denial-problem';
import { QuotaProblemException } from './http/quota-problem.exception';
import { exposedFields, fieldsOf } from './http/ratelimit-fields';
import { requestIdOf } from './http/request-facts';
import type { GuardedRequest, Identity } from './identity/identity';
import { GuardRuntime } from './module/guard-runtime';

type GuardedHttpRequest = GuardedRequest & { readonly raw?: object };

/**
 * Enforces the platform's limits and quotas on the handlers it guards: `@UseGuards(QuotaGuard)`, or as `APP_GUARD` for all of them.
 * Every answer, whatever its status, carries the rate limit fields; a denial is a problem body with an honest Retry-After.
 * @see docs/guarding-a-service.md
 */
@Injectable()
export class QuotaGuard implements CanActivate {
  private readonly logger = new Logger('Quotaplane');
  private readonly rules: HandlerRulesReader;
  private readonly calls: CallBuilder;
  private readonly exposed: string;
  private readonly costFaults = new CostFaultLog((line) => this.logger.warn(line));
  private readonly unguardedContexts = new Set<string>();

  /** @internal Nest makes it. */
  constructor(
    @Inject(GuardRuntime) private readonly runtime: GuardRuntime,
    @Inject(Reflector) reflector: Reflector,
  ) {
    this.rules = new HandlerRulesReader(reflector);
    this.calls = new CallBuilder(runtime.catalogue, runtime.addresses, runtime.options);
    this.exposed = exposedFields(runtime.options);
  }

  /** @throws {QuotaProblemException} the call is denied, its credentials are wrong, or no cost can be worked out from it */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const arrivedAtMs = performance.now();
    if (context.getType() !== 'http') return this.passUnguarded(context.getType());
    const rules = this.rules.of(context.getClass(), context.getHandler());
    if (rules.isSkipped) return true;
    const http = context.switchToHttp();
    const request = http.getRequest<GuardedHttpRequest>();
    const raw = request.raw ?? request;
    if (this.runtime.decidedRequests.has(raw)) return true;
    this.runtime.decidedRequests.add(raw);
    const answer = new Answer(http.getResponse());
    if (this.runtime.options.cors.expose && request.headers['origin'] !== undefined) answer.expose(this.exposed);
    const resolved = this.runtime.identity.resolve(request);
    const identity = resolved instanceof Promise ? await resolved : resolved;
    if (identity.kind === 'unauthenticated') return this.refuse(request, answer, identity);
    const call = this.calls.build(request, rules, identity, arrivedAtMs);
    const decision = await this.decide(call, identity);
    const isCostRefused = call.costFault !== undefined && decision.outcome === 'allowed';
    if (!isCostRefused) this.runtime.usage.decided(call, decision);
    this.runtime.metrics.decided(decision, call.class.slug, performance.now() - arrivedAtMs, isCostRefused ? 'invalid' : undefined);
    answer.set(fieldsOf(decision, this.runtime.options));
    if (isCostRefused) this.refuseCost(request, call, call.costFault);
    return decision.outcome === 'allowed' || this.deny(request, decision);
  }

  private decide(call: Call, identity: Identity): Promise<GuardDecision> {
    // Nobody can say who calls: never the anonymous tier, whose limits are for callers without credentials.
    return identity.kind === 'unavailable' ? this.runtime.fallback.decide(call, 'unavailable') : this.runtime.decider.decide(call);
  }

  private deny(request: GuardedRequest, decision: GuardDecision): never {
    throw new QuotaProblemException(denialProblem(decision, { requestId: requestIdOf(request), docsUrl: this.runtime.options.docsUrl }));
  }

  private refuse(request: GuardedRequest, answer: Answer, identity: Extract<Identity, { kind: 'unauthenticated' }>): never {
    answer.set([['WWW-Authenticate', 'ApiKey']]);
    throw new QuotaProblemException(problemOf('unauthenticated', identity.detail ?? 'the credentials are wrong', { requestId: requestIdOf(request) }));
  }

  private refuseCost(request: GuardedRequest, call: Call, fault: string): never {
    this.costFaults.record(call.class.slug, fault);
    throw new QuotaProblemException(problemOf('invalid', fault, { requestId: requestIdOf(request) }));
  }

  private passUnguarded(kind: string): boolean {
    if (!this.unguardedContexts.has(kind)) {
      this.unguardedContexts.add(kind);
      this.logger.warn(`QuotaGuard guards HTTP handlers only; ${kind} handlers pass`);
    }
    return true;
  }
}
