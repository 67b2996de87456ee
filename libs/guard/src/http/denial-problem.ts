import { ERROR_CODES, type DenialProblem, type ErrorCode, type Problem } from '@quotaplane/contracts';
import type { GuardDecision } from '../decide/guard-decision';
import type { GuardReport } from '../decide/reports';
import { retryAfterSeconds, secondsUp } from './ratelimit-fields';

export interface ProblemContext {
  readonly requestId: string;
  /** Base of the `docs` link; no link without it. */
  readonly docsUrl?: string | undefined;
}

/** Body of a refusal that no limit caused, such as 401. */
export function problemOf(code: ErrorCode, detail: string, { requestId }: ProblemContext): Problem {
  const { type, title, status } = ERROR_CODES[code];
  return { type, title, status, detail, code, requestId };
}

/** Body of a denial, members as in the response contract. */
export function denialProblem(decision: GuardDecision, context: ProblemContext): DenialProblem {
  const code = decision.code ?? 'rate_limited';
  const violated = decision.limits.filter((report) => report.isViolated);
  const retryAfter = decision.retryAfterMs === undefined ? undefined : retryAfterSeconds(decision.retryAfterMs);
  const binding = violated.length > 0 ? decision.binding : undefined;
  const { type, title, status } = ERROR_CODES[code];
  // Member by member, for denials may come by the thousand a second; in the order of the response contract.
  const problem: Writable<DenialProblem> = { type, title, status, detail: detailOf(code, binding, decision.cost, retryAfter), code, requestId: context.requestId };
  if (binding) {
    problem.scope = binding.scope;
    problem.policy = binding.name;
    problem.limit = binding.limit;
    problem.reset = secondsUp(binding.resetAfterMs);
  }
  if (violated.length > 0) problem['violated-policies'] = violated.map((report) => report.name);
  if (retryAfter !== undefined) problem.retryAfter = retryAfter;
  if (context.docsUrl) problem.docs = binding ? `${context.docsUrl}#${binding.name}` : context.docsUrl;
  return problem;
}

type Writable<Value> = { -readonly [Name in keyof Value]: Value[Name] };

function detailOf(code: ErrorCode, binding: GuardReport | undefined, cost: number, retryAfter: number | undefined): string {
  if (code === 'blocked') return 'this caller is blocked, or its account suspended';
  if (code === 'penalised') return `${binding ? `${binding.name}: too many calls past the limit` : 'this caller is held back for a while'}; no request passes for ${inWords(retryAfter)}`;
  if (code === 'limiter_unavailable') return `limits cannot be checked just now; try again in ${inWords(retryAfter)}`;
  if (!binding) return 'this request is over its limit';
  const { name, remaining, capacity, ceiling, laneEndsAfterMs } = binding;
  const need = `this request needs ${cost}`;
  if (code === 'cost_exceeds_limit') return `${name}: ${need} units, the limit holds ${ceiling ?? capacity} at most; waiting cannot help`;
  if (capacity === 0) return `${name}: the limit is 0, no request passes; try again in ${inWords(retryAfter)}`;
  if (binding.kind === 'concurrency') return `${name}: ${capacity} at once, all in use; try again in ${inWords(retryAfter)}`;
  if (ceiling !== undefined) return `${name}: ${need}, which would pass the ceiling of ${ceiling} units; try again in ${inWords(retryAfter)}`;
  if (laneEndsAfterMs !== undefined) {
    return `${name}: the allowance is used up, and a slower lane holds for ${inWords(retryAfterSeconds(laneEndsAfterMs))}; ${need}, ${remaining} available; try again in ${inWords(retryAfter)}`;
  }
  return `${name}: ${remaining} ${remaining === 1 ? 'unit' : 'units'} available, ${need}; try again in ${inWords(retryAfter)}`;
}

function inWords(seconds = 1): string {
  return seconds === 1 ? '1 second' : `${seconds} seconds`;
}
