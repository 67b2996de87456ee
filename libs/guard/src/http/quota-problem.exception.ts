import { HttpException } from '@nestjs/common';
import type { DenialProblem, Problem } from '@quotaplane/contracts';

/** Media type of every refusal (RFC 9457). */
export const PROBLEM_JSON = 'application/problem+json';

/**
 * A refusal on its way out of the guard; its response is the problem body. The headers are on the answer already, so that a service's own
 * exception filter may reshape the body without losing them.
 */
export class QuotaProblemException extends HttpException {
  constructor(readonly problem: Problem | DenialProblem) {
    super(problem, problem.status);
    this.name = 'QuotaProblemException';
  }
}
