import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { PrismaService } from '../database/prisma.service';
import { CataloguePublisher } from './catalogue-publisher';
import { KeyPublisher } from './key-publisher';
import { LaneRuns } from './lane-runs';
import { OutboxMetrics } from './outbox-metrics';
import { claimChanges, markFailed, markPublished, type ClaimedChange, type Lane, type RelayedChange } from './outbox-sql';
import { Publications } from './publications';
import { TenantPublisher } from './tenant-publisher';

/** Whole tiers are claimed one by one. */
const CLAIM_LIMITS: Readonly<Record<Lane, number>> = { urgent: 50, bulk: 1 };
/** Longest that a page of a tier waits for urgent changes, ms: they must not stop it for ever. */
const YIELD_MS = 100;

/**
 * Carries committed changes to Redis. A claim is a row lock, held until its subjects are published and it is marked done; whatever cuts it
 * short gives it back, and doing it again is harmless, for the current state is compiled each time. Any number of relays may run at once.
 * Changes of single subjects and those of whole tiers have a lane each; between two pages of a tier the urgent ones go first.
 */
@Injectable()
export class ChangeRelay {
  private readonly logger = new Logger(ChangeRelay.name);
  private readonly urgent = new LaneRuns(() => this.relayBatch('urgent'));
  private readonly bulk = new LaneRuns(() => this.relayBatch('bulk'));
  private isStopping = false;

  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(TenantPublisher) private readonly tenants: TenantPublisher,
    @Inject(KeyPublisher) private readonly keys: KeyPublisher,
    @Inject(CataloguePublisher) private readonly catalogue: CataloguePublisher,
    @Inject(OutboxMetrics) private readonly metrics: OutboxMetrics,
  ) {}

  /** Publishes all that waits and that no other relay has claimed. */
  async drain(): Promise<void> {
    const [urgent, bulk] = await Promise.allSettled([this.urgent.poke(), this.bulk.poke()]);
    for (const lane of [urgent, bulk]) if (lane.status === 'rejected') throw lane.reason;
  }

  /** The same, but without waiting for whole tiers. */
  async drainUrgent(): Promise<void> {
    // It says itself what becomes of it, and the sweep comes back to what it leaves.
    this.bulk.poke().catch((error: unknown) => this.logger.debug(`A tier waits for the sweep: ${error instanceof Error ? error.message : String(error)}`));
    await this.urgent.poke();
  }

  /** Ends a tier's publish at its next page and waits for that; whoever claims it next goes on from there. */
  async stop(): Promise<void> {
    this.isStopping = true;
    await Promise.all([this.urgent.untilIdle(), this.bulk.untilIdle()]);
  }

  /** Called with what is about to be marked; a place for specs to cut the relay short. */
  protected beforeMark(_changes: readonly RelayedChange[]): Promise<void> {
    return Promise.resolve();
  }

  /** Called before each page of a tier. */
  protected async betweenPages(): Promise<void> {
    if (this.isStopping) throw new RelayStoppedError('The worker ends; the rest of the tier is published by the next one');
    await Promise.race([this.urgent.untilIdle(), delay(YIELD_MS, undefined, { ref: false })]);
  }

  /** @returns whether there may be more to do at once; what failed waits for the next sweep */
  private async relayBatch(lane: Lane): Promise<boolean> {
    if (this.isStopping) return false;
    return this.prisma.transaction(async (tx) => {
      const claimed = await claimChanges(tx, lane, CLAIM_LIMITS[lane]);
      const batch = nextBatch(claimed);
      if (batch.length === 0) return false;
      const stopTimer = this.metrics.publishSeconds.startTimer();
      const publications = new Publications(tx, this.tenants, this.keys, this.catalogue, () => this.betweenPages());
      const done: RelayedChange[] = [];
      for (const change of batch) {
        try {
          done.push(await publications.publish(change));
        } catch (error) {
          if (error instanceof RelayStoppedError) return false;
          const message = error instanceof Error ? error.message : String(error);
          this.metrics.changesFailed.inc();
          this.logger.warn(`Change ${change.id} is not published yet: ${message}`);
          await markFailed(tx, change.id, message);
        }
      }
      await this.beforeMark(done);
      await markPublished(tx, done);
      this.metrics.changesPublished.inc(done.length);
      stopTimer();
      return batch.every(({ attempts }) => attempts === 0) && (claimed.length > batch.length || claimed.length === CLAIM_LIMITS[lane]);
    }, { timeoutMs: 600_000 });
  }
}

/** What to publish of a claim: the new ones, then once more what failed before. The rest of the claim is given back when the batch is done. */
const nextBatch = (claimed: readonly ClaimedChange[]): readonly ClaimedChange[] => {
  const fresh = claimed.filter(({ attempts }) => attempts === 0);
  return fresh.length > 0 ? fresh : claimed;
};

/** The publish of a tier was ended between two pages. */
class RelayStoppedError extends Error {
  override readonly name = 'RelayStoppedError';
}
