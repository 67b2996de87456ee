import { Catch, Inject, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { throwError } from 'rxjs';
import { sendException } from '../contexts/ws.context';
import { PROBLEM_JSON } from './quota-problem';
import { QuotaProblemException } from './quota-problem.exception';

/**
 * Writes refusals as each context has them: problem+json on HTTP, `extensions` of a GraphQL error, the error of an RPC answer, a WebSocket event's
 * ack or an `exception` event. Registered with the module; Nest applies no global filter to gateways, so name it there: `@UseFilters(QuotaProblemFilter)`.
 * A service that reshapes refusals catches {@link QuotaProblemException} in a filter of its own.
 */
@Catch(QuotaProblemException)
export class QuotaProblemFilter implements ExceptionFilter<QuotaProblemException> {
  constructor(@Inject(HttpAdapterHost) private readonly host: HttpAdapterHost) {}

  catch(exception: QuotaProblemException, host: ArgumentsHost): unknown {
    switch (host.getType<string>()) {
      case 'http':
        return this.reply(exception, host);
      case 'rpc':
        return throwError(() => exception.extensions);
      case 'ws':
        return sendException(host, exception.extensions);
      default:
        // GraphQL takes a returned error for a thrown one and copies its extensions.
        return exception;
    }
  }

  private reply({ problem }: QuotaProblemException, host: ArgumentsHost): void {
    const response: unknown = host.switchToHttp().getResponse();
    const { httpAdapter } = this.host;
    httpAdapter.setHeader(response, 'Content-Type', PROBLEM_JSON);
    // As text: Nest takes an object for application/json and puts that type over ours.
    httpAdapter.reply(response, JSON.stringify(problem), problem.status);
  }
}
