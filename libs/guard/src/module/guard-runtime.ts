import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { CallGate } from '../limiter/call-gate';
import { LimiterNode } from '../limiter/limiter-node';
import { QUOTAPLANE_OPTIONS } from '../options';
import type { ResolvedOptions } from '../resolve-options';

/** Ties the life of a limiter node to that of a Nest application. */
@Injectable()
export class GuardRuntime implements OnModuleInit, OnApplicationBootstrap, OnApplicationShutdown {
  readonly node: LimiterNode;
  readonly gate: CallGate;
  /** A global guard and one on the handler, each an instance of its own, are still one call. */
  readonly decidedCalls = new WeakSet<object>();

  constructor(@Inject(QUOTAPLANE_OPTIONS) options: ResolvedOptions) {
    const logger = new Logger('Quotaplane');
    this.node = new LimiterNode(options, { warn: (line) => logger.warn(line), error: (line) => logger.error(line) });
    this.gate = new CallGate(this.node);
  }

  onModuleInit(): Promise<void> {
    return this.node.start();
  }

  /** Not before: a node that is listed in receipts must be one that serves. */
  onApplicationBootstrap(): Promise<void> {
    return this.node.announce();
  }

  /** Runs after the servers have drained. */
  onApplicationShutdown(): Promise<void> {
    return this.node.stop();
  }
}
