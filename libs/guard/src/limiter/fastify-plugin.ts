import type { HttpAnswer } from '../http/answer';
import { PROBLEM_JSON, type QuotaProblem } from '../http/quota-problem';
import type { GuardedRequest } from '../identity/identity';
import type { CallGate } from './call-gate';
import type { LimiterNode } from './limiter-node';
import { requestLimiter } from './request-limiter';
import type { RequestRules } from './request-rules';

export interface FastifyLimiterOptions extends RequestRules {
  /**
   * When requests are judged. `onRequest` (default): before the body is parsed, unmatched routes and unparsable bodies too; `preHandler`: once the body is
   * there, for a cost or subject that is read from it.
   */
  readonly hook?: 'onRequest' | 'preHandler';
}

/** Fastify's reply, as far as it is used. */
export type FastifyReplyLike = Extract<HttpAnswer, { raw: unknown }> & {
  code(status: number): unknown;
  send(body: string): unknown;
  hijack(): unknown;
};
export type FastifyHook = (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>;
/** Fastify's request; before the body is parsed it has none. */
export type FastifyRequestLike = Omit<GuardedRequest, 'params' | 'query' | 'body'> & { readonly params: unknown; readonly query: unknown; readonly body: unknown };
/** Fastify's instance, as far as it is used. */
export interface FastifyInstanceLike {
  addHook(name: 'onRequest' | 'preHandler', hook: FastifyHook): unknown;
}
export type FastifyPlugin = (instance: FastifyInstanceLike, options: unknown, done: () => void) => void;

export function fastifyPlugin(node: LimiterNode, gate: CallGate, { hook = 'onRequest', ...rules }: FastifyLimiterOptions): FastifyPlugin {
  const judge = requestLimiter(node, gate, rules);
  const plugin: FastifyPlugin = (instance, _options, done) => {
    instance.addHook(hook, async (request, reply) => {
      const verdict = await judge(request as GuardedRequest, reply);
      if (verdict.kind === 'denied') return replyProblem(reply, verdict.problem);
      // Nothing runs for a caller who has gone.
      return verdict.kind === 'gone' ? reply.hijack() : undefined;
    });
    done();
  };
  // Fastify's own mark for a plugin whose hooks hold for the instance that registers it, not for a scope of its own.
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true });
}

/** Answers with a problem before any handler runs. The reply has to be returned from the hook: Fastify then waits until it was sent. */
export function replyProblem(reply: FastifyReplyLike, problem: QuotaProblem): FastifyReplyLike {
  reply.header('Content-Type', PROBLEM_JSON);
  reply.code(problem.status);
  reply.send(JSON.stringify(problem));
  return reply;
}
