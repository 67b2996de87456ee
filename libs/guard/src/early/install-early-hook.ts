import type { INestApplication } from '@nestjs/common';
import type { GuardedRequest } from '../identity/identity';
import { sendProblem, type ExpressRequest, type ExpressResponse } from '../limiter/express-middleware';
import { replyProblem, type FastifyInstanceLike } from '../limiter/fastify-plugin';
import { GuardRuntime } from '../module/guard-runtime';
import { EarlyGate } from './early-gate';

export interface EarlyHookOptions {
  /** True leaves a request alone, such as a health check. Only method, URL, headers and socket are known. */
  readonly skip?: (request: GuardedRequest) => boolean;
}

/** Nest's adapter, as far as it is used. */
interface Adapter {
  getType(): string;
  getInstance(): unknown;
}

/**
 * Judges every request by its address before its body is parsed and its route is looked up, so that unmatched routes, wrong methods, unparsable and too
 * large bodies are limited and carry the fields too. Its limits are those of the tenant `platform` with class `early` and scope `ip` or `global`; a
 * later decision of the guard puts its own fields in place of these.
 * Call it right after the application was made, before `init()`, `listen()` and before other hooks and middleware are added.
 * @example const app = await NestFactory.create(AppModule); installEarlyHook(app); await app.listen(3000);
 */
export function installEarlyHook(app: INestApplication, { skip }: EarlyHookOptions = {}): void {
  const { node, gate } = app.get(GuardRuntime, { strict: false });
  const early = new EarlyGate(node, gate);
  const adapter: Adapter = app.getHttpAdapter();
  if (adapter.getType() === 'fastify') {
    (adapter.getInstance() as FastifyInstanceLike).addHook('onRequest', async (request, reply) => {
      if (skip?.(request as GuardedRequest) === true) return undefined;
      const problem = await early.judge(request as GuardedRequest, reply);
      return problem && replyProblem(reply, problem);
    });
    return;
  }
  app.use((request: ExpressRequest, response: ExpressResponse, next: (error?: unknown) => void) => {
    if (skip?.(request as GuardedRequest) === true) return next();
    early.judge(request as GuardedRequest, response).then((problem) => (problem ? sendProblem(response, problem) : next())).catch(next);
  });
}
