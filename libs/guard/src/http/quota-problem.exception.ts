import { HttpException } from '@nestjs/common';
import type { QuotaProblem, QuotaProblemPayload } from './quota-problem';

/**
 * A refusal on its way out of the guard; its response is the problem body. On HTTP the headers are on the answer already, so that a service's own
 * exception filter may reshape the body without losing them.
 */
export class QuotaProblemException extends HttpException {
  /** Problem and fields in one, for answers without headers; GraphQL copies it into the error's `extensions`. */
  readonly extensions: QuotaProblemPayload;

  /** @param fields by name, as an HTTP answer carries them */
  constructor(
    readonly problem: QuotaProblem,
    fields: Readonly<Record<string, string>> = {},
  ) {
    super(problem, problem.status);
    this.name = 'QuotaProblemException';
    // Most clients without headers show nothing but the message.
    this.message = problem.detail;
    this.extensions = { ...problem, rateLimit: fields };
  }

  /** @internal Without a stack: a refusal is no fault, nobody looks for the line it came from, and to find that out costs more than to decide. */
  static ofDecision(problem: QuotaProblem, fields: Readonly<Record<string, string>>): QuotaProblemException {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    try {
      return new QuotaProblemException(problem, fields);
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  }
}
