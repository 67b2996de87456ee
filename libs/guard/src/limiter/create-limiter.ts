import type { QuotaplaneOptions } from '../options';
import { resolveOptions } from '../resolve-options';
import { CallGate } from './call-gate';
import { Limiter } from './limiter';
import type { LimiterLogger } from './limiter-logger';
import { LimiterNode } from './limiter-node';

export interface LimiterOptions extends QuotaplaneOptions {
  /** Default: the console. */
  readonly logger?: LimiterLogger;
}

/**
 * A limiter for workers, plain Express or Fastify and outbound calls; no framework is needed. It is a node of its own in receipts and journals, so make
 * one per process and `close()` it at the end. In a Nest service inject {@link Limiter} instead: it shares the module's node.
 * @throws {QuotaplaneOptionsError} naming every faulty option. Never for a store that is away: decisions then follow the fail mode
 * @example const limiter = await createLimiter({ redisUrl: process.env.REDIS_URL ?? '', service: 'mailer' });
 */
export async function createLimiter({ logger = console, ...options }: LimiterOptions): Promise<Limiter> {
  const node = new LimiterNode(resolveOptions(options), logger);
  await node.start();
  await node.announce();
  return new Limiter(node, new CallGate(node));
}
