import { BullModule, InjectQueue } from '@nestjs/bullmq';
import { Global, Injectable, Logger, Module } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { ChangePoke } from '../audit/change-poke';
import { AppConfig } from '../config/app-config';
import { CHANGES_QUEUE, SWEEPS_QUEUE } from './queue-names';

/** Wakes the worker through the queue. A poke that Redis does not take is left to the sweep. */
@Injectable()
export class QueuedChangePoke extends ChangePoke {
  private readonly logger = new Logger(ChangePoke.name);

  constructor(@InjectQueue(CHANGES_QUEUE) private readonly queue: Queue) {
    super();
    // Without a listener a lost connection would end the process.
    queue.on('error', () => undefined);
  }

  override poke(changeId: string): void {
    const options = { jobId: changeId, removeOnComplete: true, removeOnFail: true };
    this.queue.add('relay', {}, options).catch((error: unknown) => {
      this.logger.debug(`Change ${changeId} waits for the sweep: ${error instanceof Error ? error.message : String(error)}`);
    });
  }
}

const queue = (name: string, enableOfflineQueue: boolean) =>
  BullModule.registerQueueAsync({
    name,
    inject: [AppConfig],
    useFactory: (config: AppConfig) => ({
      // The braces keep a queue's keys in one slot of a cluster.
      prefix: '{qp-jobs}',
      connection: { url: config.redisUrl, enableOfflineQueue, retryStrategy: (attempt: number) => Math.min(attempt * 50, 500) },
      skipVersionCheck: true,
    }),
  });

/** The HTTP process's side of the outbox: it pokes and never publishes. */
@Global()
@Module({
  imports: [queue(CHANGES_QUEUE, false)],
  providers: [{ provide: ChangePoke, useClass: QueuedChangePoke }],
  exports: [ChangePoke],
})
export class ChangePokeModule {}

/** The worker's queues: commands wait for Redis, for there is nothing else to do without it. */
@Module({ imports: [queue(CHANGES_QUEUE, true), queue(SWEEPS_QUEUE, true)], exports: [BullModule] })
export class WorkerQueuesModule {}
