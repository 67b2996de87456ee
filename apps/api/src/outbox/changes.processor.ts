import { Processor, WorkerHost } from '@nestjs/bullmq';
import { Inject } from '@nestjs/common';
import { ChangeRelay } from './change-relay';
import { CHANGES_QUEUE, RETRY_AFTER_MS } from './queue-names';

/** A poke: some change was committed. Which one does not matter, the relay looks for itself. */
@Processor(CHANGES_QUEUE, { concurrency: 4, runRetryDelay: RETRY_AFTER_MS })
export class ChangesProcessor extends WorkerHost {
  constructor(@Inject(ChangeRelay) private readonly relay: ChangeRelay) {
    super();
  }

  override async process(): Promise<void> {
    await this.relay.drainUrgent();
  }
}
