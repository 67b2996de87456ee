import type { ExecutionContext } from '@nestjs/common';
import type { GuardedRequest } from '../identity/identity';
import type { CallAnswer } from '../limiter/call-answer';
import { graphqlContext } from './graphql.context';
import { httpContext } from './http.context';
import { rpcContext } from './rpc.context';
import { wsContext } from './ws.context';

/** How calls of one kind come in and are answered. */
export interface CallContext {
  /** What resolvers and decorators read. */
  requestOf(context: ExecutionContext): GuardedRequest;
  /** The same object for every guard and interceptor that meets one call. */
  tokenOf(context: ExecutionContext): object;
  answerOf(context: ExecutionContext): CallAnswer;
}

const CONTEXTS: Readonly<Record<string, CallContext>> = { http: httpContext, graphql: graphqlContext, rpc: rpcContext, ws: wsContext };

/** Undefined: a kind of context that nobody has taught the guard. */
export function callContextOf(kind: string): CallContext | undefined {
  return Object.hasOwn(CONTEXTS, kind) ? CONTEXTS[kind] : undefined;
}
