import { Catch, Inject, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { PROBLEM_JSON, QuotaProblemException } from './quota-problem.exception';

/** Writes refusals as problem+json. A service that reshapes them catches {@link QuotaProblemException} in a filter of its own. */
@Catch(QuotaProblemException)
export class QuotaProblemFilter implements ExceptionFilter<QuotaProblemException> {
  constructor(@Inject(HttpAdapterHost) private readonly host: HttpAdapterHost) {}

  catch({ problem }: QuotaProblemException, host: ArgumentsHost): void {
    const response: unknown = host.switchToHttp().getResponse();
    const { httpAdapter } = this.host;
    httpAdapter.setHeader(response, 'Content-Type', PROBLEM_JSON);
    // As text: Nest takes an object for application/json and puts that type over ours.
    httpAdapter.reply(response, JSON.stringify(problem), problem.status);
  }
}
