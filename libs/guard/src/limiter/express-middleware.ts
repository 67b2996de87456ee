import type { HttpAnswer } from '../http/answer';
import { PROBLEM_JSON, type QuotaProblem } from '../http/quota-problem';
import type { GuardedRequest } from '../identity/identity';
import type { CallGate } from './call-gate';
import type { LimiterNode } from './limiter-node';
import { requestLimiter } from './request-limiter';
import type { RequestRules } from './request-rules';

/** Express's request; before a body parser its body is missing, and outside of a route its parameters. */
export type ExpressRequest = Omit<GuardedRequest, 'params' | 'query' | 'body'> & { readonly params?: unknown; readonly query?: unknown; readonly body?: unknown };
/** The part of Express's response, Node's own `ServerResponse`, that is used. */
export type ExpressResponse = Exclude<HttpAnswer, { raw: unknown }> & { statusCode: number; end(body: string): unknown };
export type ExpressMiddleware = (request: ExpressRequest, response: ExpressResponse, next: (error?: unknown) => void) => void;

export function expressMiddleware(node: LimiterNode, gate: CallGate, rules: RequestRules): ExpressMiddleware {
  const judge = requestLimiter(node, gate, rules);
  return (request, response, next) => {
    judge(request as GuardedRequest, response).then((verdict) => {
      if (verdict.kind === 'denied') sendProblem(response, verdict.problem);
      else if (verdict.kind === 'goes-on') next();
    }).catch(next);
  };
}

/** Answers with a problem, on Node's own response. */
export function sendProblem(response: ExpressResponse, problem: QuotaProblem): void {
  response.statusCode = problem.status;
  response.setHeader('Content-Type', PROBLEM_JSON);
  response.end(JSON.stringify(problem));
}
