import { Answer, type HttpAnswer } from '../http/answer';
import type { GuardedRequest } from '../identity/identity';
import type { CallContext } from './call-context';

type RoutedRequest = GuardedRequest & { readonly raw?: object };

/** Requests on Fastify and Express; figures are response fields. */
export const httpContext: CallContext = {
  requestOf: (context) => context.switchToHttp().getRequest<RoutedRequest>(),
  tokenOf: (context) => {
    const request = context.switchToHttp().getRequest<RoutedRequest>();
    return request.raw ?? request;
  },
  answerOf: (context) => new Answer(context.switchToHttp().getResponse<HttpAnswer>()),
};
