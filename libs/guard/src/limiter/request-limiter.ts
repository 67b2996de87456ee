import { Answer, type HttpAnswer } from '../http/answer';
import type { QuotaProblem } from '../http/quota-problem';
import type { GuardedRequest } from '../identity/identity';
import { settleWith } from './admitted-answer';
import type { CallGate } from './call-gate';
import type { LimiterNode } from './limiter-node';
import { rulesReader, type RequestRules } from './request-rules';

/** What becomes of a request: it goes on, it is answered with a problem, or its caller has gone. */
export type RequestVerdict = { readonly kind: 'goes-on' } | { readonly kind: 'gone' } | { readonly kind: 'denied'; readonly problem: QuotaProblem };

const GOES_ON: RequestVerdict = { kind: 'goes-on' };

/** Judges requests of a plain HTTP framework and puts the fields on their answers. */
export function requestLimiter(node: LimiterNode, gate: CallGate, rules: RequestRules): (request: GuardedRequest, response: HttpAnswer) => Promise<RequestVerdict> {
  const rulesOf = rulesReader(rules);
  return async (request, response) => {
    const arrivedAtMs = performance.now();
    if (rules.skip?.(request) === true) return GOES_ON;
    const answer = new Answer(response);
    if (node.options.cors.expose && request.headers['origin'] !== undefined) answer.expose(gate.exposed);
    const resolved = node.identity.resolve(request);
    const identity = 'then' in resolved ? await resolved : resolved;
    const { decision, fields, problem } = await gate.admit({ request, rules: rulesOf(request), identity, arrivedAtMs });
    answer.set(fields);
    if (problem) {
      decision?.release?.({ statusCode: problem.status, isAborted: false });
      return { kind: 'denied', problem };
    }
    return !decision || (await settleWith(answer, decision)) ? GOES_ON : { kind: 'gone' };
  };
}
