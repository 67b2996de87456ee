import { Inject, Injectable, Logger, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { callContextOf, type CallContext } from './contexts/call-context';
import { HandlerRulesReader, type NestHandlerRules } from './handler-rules-reader';
import { Answer } from './http/answer';
import type { QuotaProblem } from './http/quota-problem';
import { QuotaProblemException } from './http/quota-problem.exception';
import type { GuardedRequest, Identity } from './identity/identity';
import { settleWith } from './limiter/admitted-answer';
import { GuardRuntime } from './module/guard-runtime';

const PASSES = Promise.resolve(true);

/**
 * Enforces the platform's limits and quotas on the handlers it guards: `@UseGuards(QuotaGuard)`, or as `APP_GUARD` for all of them. Controllers,
 * GraphQL resolvers, message handlers of microservices and WebSocket gateways alike. Every answer, whatever its status, carries the rate limit fields;
 * a denial is a problem with an honest Retry-After. A service that wants it otherwise extends it and overrides one of its protected methods.
 * @see docs/guarding-a-service.md
 */
@Injectable()
export class QuotaGuard implements CanActivate {
  private readonly logger = new Logger('Quotaplane');
  private readonly rules: HandlerRulesReader;
  private readonly warnedOf = new Set<string>();

  /** @internal Nest makes it. */
  constructor(
    @Inject(GuardRuntime) private readonly runtime: GuardRuntime,
    @Inject(Reflector) reflector: Reflector,
  ) {
    this.rules = new HandlerRulesReader(reflector);
  }

  /**
   * Not async, so that the way from here to the store has as few turns of the loop as can be.
   * @throws {QuotaProblemException} the call is denied, its credentials are wrong, or no cost can be worked out from it
   */
  canActivate(context: ExecutionContext): Promise<boolean> {
    const arrivedAtMs = performance.now();
    const kind = context.getType<string>();
    const callContext = callContextOf(kind);
    if (!callContext) return this.passUnguarded(kind);
    const rules = this.rules.of(context.getClass(), context.getHandler());
    if (rules.isSkipped || this.standsBack(rules)) return PASSES;
    const isSkipped = this.shouldSkip(context);
    if (isSkipped instanceof Promise) return isSkipped.then((skips) => (skips ? true : this.decideOnce(context, callContext, rules, arrivedAtMs)));
    return isSkipped ? PASSES : this.decideOnce(context, callContext, rules, arrivedAtMs);
  }

  /**
   * What resolvers, `@Cost` and `@Subject` functions read. Override it where the credentials of messages or events are in their payload.
   * @see docs: contexts, for what it is outside of HTTP
   */
  protected requestOf(context: ExecutionContext): GuardedRequest {
    const callContext = callContextOf(context.getType<string>());
    if (!callContext) throw new TypeError(`no request is known in a context of type ${context.getType<string>()}`);
    return callContext.requestOf(context);
  }

  /** Who is calling; the module's resolver unless overridden. Must not throw for wrong credentials: answer `unauthenticated`. */
  protected identify(request: GuardedRequest, _context: ExecutionContext): Identity | Promise<Identity> {
    return this.runtime.node.identity.resolve(request);
  }

  /** True leaves this call unguarded, as `@SkipQuota()` does for a whole handler. */
  protected shouldSkip(_context: ExecutionContext): boolean | Promise<boolean> {
    return false;
  }

  /**
   * Refuses a call. The fields are on the HTTP answer already; an override may throw what it likes, but must throw.
   * @param fields by name, for answers without headers
   */
  protected deny(problem: QuotaProblem, fields: Readonly<Record<string, string>>, _context: ExecutionContext): never {
    throw QuotaProblemException.ofDecision(problem, fields);
  }

  private decideOnce(context: ExecutionContext, callContext: CallContext, rules: NestHandlerRules, arrivedAtMs: number): Promise<boolean> {
    const token = callContext.tokenOf(context);
    const { decidedCalls } = this.runtime;
    if (decidedCalls.has(token)) return PASSES;
    decidedCalls.add(token);
    return this.decide(context, callContext, rules, arrivedAtMs);
  }

  private async decide(context: ExecutionContext, callContext: CallContext, rules: NestHandlerRules, arrivedAtMs: number): Promise<boolean> {
    const { gate, node } = this.runtime;
    const request = this.requestOf(context);
    const answer = callContext.answerOf(context);
    if (answer instanceof Answer && node.options.cors.expose && request.headers['origin'] !== undefined) answer.expose(gate.exposed);
    const resolved = this.identify(request, context);
    const identity = resolved instanceof Promise ? await resolved : resolved;
    if (identity.kind === 'anonymous' && request.socket.remoteAddress === undefined) this.warnOfStranger(context.getType<string>());
    const { fields, problem, decision } = await gate.admit({ request, rules, identity, arrivedAtMs });
    answer.set(fields);
    if (problem) {
      decision?.release?.({ statusCode: problem.status, isAborted: false });
      this.deny(problem, Object.fromEntries(fields), context);
    }
    return !decision || settleWith(answer, decision);
  }

  /** A guard class of the route's own, such as one with another `identify`, decides instead of a global one. */
  private standsBack({ namedGuards }: NestHandlerRules): boolean {
    if (namedGuards.length === 0) return false;
    const own = namedGuards.map((guard) => (typeof guard === 'function' ? guard : (guard as object).constructor)).find(isQuotaGuard);
    return own !== undefined && own !== this.constructor;
  }

  private passUnguarded(kind: string): Promise<boolean> {
    this.warnOnce(kind, `QuotaGuard does not know ${kind} contexts; their handlers pass`);
    return PASSES;
  }

  private warnOfStranger(kind: string): void {
    this.warnOnce(`stranger ${kind}`, `${kind} calls without credentials or address share one anonymous counter; override identify or requestOf of QuotaGuard`);
  }

  private warnOnce(about: string, line: string): void {
    if (this.warnedOf.has(about)) return;
    this.warnedOf.add(about);
    this.logger.warn(line);
  }
}

function isQuotaGuard(guard: unknown): boolean {
  return typeof guard === 'function' && (guard === QuotaGuard || guard.prototype instanceof QuotaGuard);
}
