import { Inject, Injectable, Logger } from '@nestjs/common';
import { PrismaService } from '../database/prisma.service';
import { CataloguePublisher } from './catalogue-publisher';
import { KeyPublisher } from './key-publisher';
import { OutboxMetrics } from './outbox-metrics';
import { claimChanges, markFailed, markPublished, type ClaimedChange, type RelayedChange } from './outbox-sql';
import { Publications } from './publications';
import { TenantPublisher } from './tenant-publisher';

const CLAIM_LIMIT = 50;
/** Runs beside each other in one worker, so that a tier with very many tenants does not keep an urgent raise waiting. */
const RUNS_MAX = 2;

/**
 * Carries committed changes to Redis. A claim is a row lock, held until its subjects are published and it is marked done; whatever cuts it
 * short gives it back, and doing it again is harmless, for the current state is compiled each time. Any number of relays may run at once.
 */
@Injectable()
export class ChangeRelay {
  private readonly logger = new Logger(ChangeRelay.name);
  private readonly runs = new Set<Promise<void>>();
  private isPokedAgain = false;

  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(TenantPublisher) private readonly tenants: TenantPublisher,
    @Inject(KeyPublisher) private readonly keys: KeyPublisher,
    @Inject(CataloguePublisher) private readonly catalogue: CataloguePublisher,
    @Inject(OutboxMetrics) private readonly metrics: OutboxMetrics,
  ) {}

  /**
   * Publishes all that waits and that no other run has claimed. Where enough runs are under way the call joins one, and they look once more
   * before they end.
   */
  async drain(): Promise<void> {
    this.isPokedAgain = true;
    if (this.runs.size < RUNS_MAX) await this.run();
    else await Promise.race(this.runs);
  }

  /** Called with what is about to be marked; a place for specs to cut the relay short. */
  protected beforeMark(_changes: readonly RelayedChange[]): Promise<void> {
    return Promise.resolve();
  }

  private run(): Promise<void> {
    const run = this.relayAll(() => this.runs.delete(run));
    this.runs.add(run);
    return run;
  }

  private async relayAll(onEnd: () => void): Promise<void> {
    // Only then is the run in the set that it leaves.
    await Promise.resolve();
    try {
      while (this.isPokedAgain) {
        this.isPokedAgain = false;
        while (await this.relayBatch());
      }
    } finally {
      // In the same turn as the last look at the flag, or a poke in between would join a run that is over.
      onEnd();
    }
  }

  /** @returns whether there may be more to do at once; what failed waits for the next sweep */
  private relayBatch(): Promise<boolean> {
    return this.prisma.transaction(async (tx) => {
      const claimed = await claimChanges(tx, CLAIM_LIMIT);
      const batch = nextBatch(claimed);
      if (batch.length === 0) return false;
      const stopTimer = this.metrics.publishSeconds.startTimer();
      const publications = new Publications(tx, this.tenants, this.keys, this.catalogue);
      const done: RelayedChange[] = [];
      for (const change of batch) {
        try {
          done.push(await publications.publish(change));
        } catch (error) {
          const message = error instanceof Error ? error.message : String(error);
          this.metrics.changesFailed.inc();
          this.logger.warn(`Change ${change.id} is not published yet: ${message}`);
          await markFailed(tx, change.id, message);
        }
      }
      await this.beforeMark(done);
      for (const change of done) await markPublished(tx, change);
      this.metrics.changesPublished.inc(done.length);
      stopTimer();
      return batch.every(({ attempts }) => attempts === 0) && (claimed.length > batch.length || claimed.length === CLAIM_LIMIT);
    }, { timeoutMs: 600_000 });
  }
}

/**
 * What to publish of a claim: first the new changes of single subjects together, then the new ones of whole tiers one by one, then once more
 * what failed before. The rest of the claim is given back when the batch is done.
 */
const nextBatch = (claimed: readonly ClaimedChange[]): readonly ClaimedChange[] => {
  const fresh = claimed.filter(({ attempts }) => attempts === 0);
  const small = fresh.filter(({ topics }) => topics.every(({ kind }) => kind !== 'tier'));
  if (small.length > 0) return small;
  return fresh.length > 0 ? fresh.slice(0, 1) : claimed;
};
