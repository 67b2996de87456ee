import { feedEntrySchema, type FeedEntry } from '@quotaplane/contracts';
import { sleepUntil, within } from './deadline';
import { openFeed, type FeedConnection } from './feed-connection';
import type { FeedRedis } from './policy-redis';
import type { OnStoreError } from './store-errors';
import { compareStreamIds, STREAM_START } from './stream-id';

export interface FeedHandler {
  /** Synchronous: when it returns, the cache has dropped what the entry names. */
  entry(entry: FeedEntry, id: string): void;
  /** Entries may have been missed: drop everything. */
  gap(): void;
  /** After each batch of entries and after a gap: everything up to `position` is applied. */
  applied?(position: string): void;
}
export interface ChangeFeedOptions {
  /** Makes a connection of the feed's own, for it blocks. Called again after each cut; the feed closes what it no longer uses. */
  readonly connect: () => FeedRedis;
  readonly handler: FeedHandler;
  readonly onError?: OnStoreError;
}

/** Most entries a read brings. */
const BATCH = 1_000;
/** Between attempts to connect, ms; with an attempt's own patience a node follows within 2 s of a cut's end. */
const RETRY_MS = 100;
/** Age of the last answer up to which the feed vouches for the caches, ms: a quiet stream answers each second. */
const CURRENT_MS = 1_600;

/**
 * Follows `qp:changes` from the last id at start. Start it before the caches begin to load, so that no change falls between.
 * After a cut it goes on from its position. Our id older than the stream's first entry, a stream that vanished or ids that went back are
 * a gap: the handler drops everything. Only a speed-up: the check's head decides (M1).
 */
export class ChangeFeed {
  private at: string | undefined;
  private connection: FeedConnection | undefined;
  private answeredAtMs = Number.NEGATIVE_INFINITY;
  private isStopped = false;
  private follower: Promise<void> | undefined;
  private located: () => void = () => undefined;

  constructor(private readonly options: ChangeFeedOptions) {}

  /**
   * Begins to follow; resolves once the position is known, or after `waitMs` without the store (the feed goes on trying).
   * The caches may hold anything older by the time the position is known late, so that counts as a gap.
   */
  async start(waitMs = 1_000): Promise<void> {
    if (this.follower !== undefined) return;
    const located = new Promise<void>((resolve) => (this.located = resolve));
    this.follower = this.follow(performance.now() + waitMs);
    await within(located, performance.now() + waitMs, undefined);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.connection?.close();
    await this.follower;
  }

  /** Last id whose named policies have been dropped; everything older is gone from the caches. */
  get position(): string {
    return this.at ?? STREAM_START;
  }

  /** True while all that was published more than 1.6 s ago is applied. */
  get isCurrent(): boolean {
    return performance.now() - this.answeredAtMs < CURRENT_MS;
  }

  private async follow(startDeadlineMs: number): Promise<void> {
    while (!this.isStopped) {
      try {
        this.connection = await openFeed(this.options.connect, (error) => this.fail(error));
        await this.locate(this.connection, startDeadlineMs);
        while (!this.isStopped) await this.readOn(this.connection);
      } catch (error) {
        this.fail(error);
      }
      this.connection?.close();
      this.connection = undefined;
      if (!this.isStopped) await sleepUntil(performance.now() + RETRY_MS);
    }
  }

  /** Where to begin, or whether the way from our position on is still whole. */
  private async locate(connection: FeedConnection, startDeadlineMs: number): Promise<void> {
    const bounds = await connection.bounds();
    const isLate = this.at === undefined && performance.now() > startDeadlineMs;
    this.at ??= bounds.last;
    if (this.missedAny(bounds, this.at) || isLate) {
      this.options.handler.gap();
      this.options.handler.applied?.(this.position);
    }
    this.located();
  }

  private async readOn(connection: FeedConnection): Promise<void> {
    const from = this.position;
    const entries = await connection.read(from, BATCH);
    for (const { id, fields } of entries) this.apply(id, fields);
    this.at = entries.at(-1)?.id ?? from;
    // Before a gap is ruled out, nothing is said about the position: what was missed may still be in the caches.
    const isGap = this.missedAny(await connection.bounds(), from);
    if (isGap) this.options.handler.gap();
    if (isGap || entries.length > 0) this.options.handler.applied?.(this.position);
    if (entries.length < BATCH) this.answeredAtMs = performance.now();
  }

  /** Whether the entry after `from` may be gone; sets the position back where the ids went back. */
  private missedAny({ first, last }: { readonly first: string; readonly last: string }, from: string): boolean {
    const wentBack = compareStreamIds(last, this.position) < 0;
    if (wentBack) this.at = last;
    return wentBack || compareStreamIds(first, from) > 0;
  }

  private apply(id: string, fields: Readonly<Record<string, string>>): void {
    const entry = feedEntrySchema.safeParse(fields);
    if (entry.success) return this.options.handler.entry(entry.data, id);
    // A newer release may name topics that this one does not know; what it meant to drop is dropped with the rest.
    this.fail(entry.error);
    this.options.handler.gap();
  }

  private fail(error: unknown): void {
    if (!this.isStopped) this.options.onError?.(error, 'change-feed');
  }
}
