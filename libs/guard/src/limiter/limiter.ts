import type { ConcurrencyGate } from '@quotaplane/rate-limit';
import { expressMiddleware, type ExpressMiddleware } from './express-middleware';
import { fastifyPlugin, type FastifyLimiterOptions, type FastifyPlugin } from './fastify-plugin';
import type { CallGate } from './call-gate';
import { admitJob, type DelayableJob } from './job-admission';
import { arrivalOf, type LimiterCall } from './limiter-call';
import { limiterDecisionOf, type LimiterDecision } from './limiter-decision';
import type { GateOptions } from './gate-options';
import type { LimiterNode } from './limiter-node';
import type { RequestRules } from './request-rules';

/** Decides calls of any kind by the platform's limits and quotas. Made by {@link createLimiter}, or injected in a Nest service. */
export class Limiter {
  /** @internal */
  constructor(
    private readonly node: LimiterNode,
    private readonly calls: CallGate,
  ) {}

  /**
   * Charges a call to every limit that applies, or to none. Never throws for an outage: the class's fail mode answers then.
   * @returns a denial is a value; `retryAfterMs` tells when to ask again
   */
  async decide(call: LimiterCall): Promise<LimiterDecision> {
    const arrival = arrivalOf(call, this.node.apiKeys);
    return limiterDecisionOf(await this.calls.admit(arrival instanceof Promise ? await arrival : arrival));
  }

  /**
   * Middleware for plain Express: fields on every answer, problem+json on a denial. `app.use(limiter.express())` judges unmatched routes and unparsable
   * bodies too when it stands before the body parser; on a route it knows the route's template, and after a parser the body.
   */
  express(rules: RequestRules = {}): ExpressMiddleware {
    return expressMiddleware(this.node, this.calls, rules);
  }

  /** Plugin for plain Fastify: `app.register(limiter.fastify())`. Judges every request of the instance that registers it. */
  fastify(rules: FastifyLimiterOptions = {}): FastifyPlugin {
    return fastifyPlugin(this.node, this.calls, rules);
  }

  /**
   * Lets a BullMQ job go on, or delays it by the wait it was told: no attempt is used up.
   * @param token of the lock, the second argument of the processor
   * @returns the decision; `release()` it when the job has ended where it holds a slot
   * @throws an error that BullMQ takes for the job's delay, or for its end where waiting cannot help
   */
  admitJob(job: DelayableJob, token: string | undefined, call: LimiterCall): Promise<LimiterDecision> {
    return admitJob((asked) => this.decide(asked), job, token, call);
  }

  /**
   * Wraps a BullMQ processor so that each job is admitted first; see {@link admitJob}.
   * @param callOf tells whose job it is and what it costs
   */
  job<Job extends DelayableJob, Result>(
    callOf: (job: Job) => LimiterCall,
    processor: (job: Job, token?: string, signal?: AbortSignal) => Promise<Result>,
  ): (job: Job, token?: string, signal?: AbortSignal) => Promise<Result> {
    return async (job, token, signal) => {
      const { release } = await this.admitJob(job, token, callOf(job));
      try {
        const result = await processor(job, token, signal);
        release({ statusCode: 200 });
        return result;
      } catch (error) {
        release({ statusCode: 500 });
        throw error;
      }
    };
  }

  /**
   * Caps how many tasks of a tenant use a resource at once, over all nodes, such as the connections of a pool: `limit` run, `maxQueue` of this process wait,
   * for `maxWaitMs` at most. While the store is away this node runs its share. Gates of one tenant and name share their slots; make each once and keep it.
   * @example const reports = limiter.gate({ tenant: 'acme', name: 'reports', limit: 4, maxQueue: 20, maxWaitMs: 2000 });
   *   const rows = await reports.run((signal) => pool.query('select ...'));
   * @throws {InvalidGateOptionError}; and `run` rejects with {@link GateFullError} or {@link GateTimeoutError} where nothing was run
   */
  gate(options: GateOptions): ConcurrencyGate {
    return this.node.gateOf(options);
  }

  /** Writes the last usage and leaves the list of nodes. Call it when the last call has been decided. */
  close(): Promise<void> {
    return this.node.stop();
  }
}
