import { JOURNAL_TTL_MS, redisKeys, type JournalDocument } from '@quotaplane/contracts';
import { FlushLoop, type FlushOptions } from './flush-loop';
import { JournalCounts, type JournalEntry } from './journal-counts';
import { journalDocumentOf } from './journal-document';
import { degradedHour, type JournalCell } from './journal-field';
import type { UsageRedis } from './usage-redis';

/** Names and values of one command: a node that serves very many tenants has more than a call takes arguments. Even. */
const MEMBERS_PER_COMMAND = 2_000;

export interface JournalOptions extends FlushOptions {
  readonly redis: UsageRedis;
  /** Id of this life of the node; never used twice. */
  readonly incarnation: string;
  readonly service: string;
  /** Store time in ms, for `asOf` and for the hours of what was admitted without the store. */
  readonly storeNow: () => number;
}

/**
 * What this incarnation admitted, refunded and admitted while degraded: counts that only grow (M3). Each second the dirty ones are written
 * into this incarnation's own hash; they stay dirty until the fold has them in Postgres. Repeats are harmless, losses are written again.
 * @see docs/adr/0003-journal.md
 */
export class Journal {
  private readonly counts = new JournalCounts();
  private readonly loop: FlushLoop;
  private readonly onReconnect = (): void => this.counts.markAllWaiting();
  private seq = 0;
  private isClosed = false;

  constructor(private readonly options: JournalOptions) {
    this.loop = new FlushLoop(() => this.write(), options);
    // Another Redis, or one with older data, is only ever met through a new connection.
    options.redis.on('ready', this.onReconnect);
  }

  start(): void {
    this.loop.start();
  }

  /** @param units whole units, 0 or more; pass the same cell object again and no key text is built */
  admit(cell: JournalCell, units: number): void {
    this.counts.add(cell, 'admitted', units);
  }

  /**
   * Gives back units of an admission by the store: `cell` is the admission's own, so that they return to its period. What was admitted while
   * degraded is never refunded: its settlement decides what of it counts.
   * @returns units given back: never more than this incarnation admitted in the cell and has not given back yet
   */
  refund(cell: JournalCell, units: number): number {
    const given = Math.min(units, this.counts.valueOf(cell, 'admitted') - this.counts.valueOf(cell, 'refunded'));
    this.counts.add(cell, 'refunded', given);
    return given;
  }

  /** Admitted while the store could not be asked; the ledger settles it by the tier's `degraded` policy. */
  admitDegraded(cell: JournalCell, units: number): void {
    this.counts.add(cell, 'degraded', units);
    this.counts.add(cell, degradedHour(this.options.storeNow()), units);
  }

  /** The store may have counted these units for a call that was answered without it. Never billed: it bounds what the counter alone can prove (ADR 13). */
  doubt(cell: JournalCell, units: number): void {
    this.counts.add(cell, 'doubtful', units);
  }

  /** Writes what waits; false when the store did not take it (it stays dirty). */
  async flush(): Promise<boolean> {
    return this.loop.runOnce();
  }

  /**
   * Last flush of this life; marks the incarnation closed, so that the fold may delete its hash.
   * @returns counts that no fold has confirmed and this flush could not write, for the caller to post ({@link snapshot}) or to log: nothing is
   * lost in silence
   */
  async close(): Promise<{ readonly atRisk: Readonly<Record<string, number>> }> {
    await this.loop.stop();
    this.options.redis.off('ready', this.onReconnect);
    this.isClosed = true;
    try {
      await this.write();
      return { atRisk: {} };
    } catch {
      return { atRisk: Object.fromEntries(this.counts.unfolded().map((entry) => [entry.field, entry.value])) };
    }
  }

  /** Everything that no fold has confirmed, for `POST /v1/journals`. Counts are totals of this life, so that posting and flushing them too counts once. */
  snapshot(): JournalDocument {
    const { incarnation, service, storeNow } = this.options;
    return journalDocumentOf(this.counts, { incarnation, service, sequence: this.seq, atMs: storeNow(), isClosed: this.isClosed });
  }

  private async write(): Promise<void> {
    const { redis, incarnation } = this.options;
    const key = redisKeys.journal(incarnation);
    const seq = ++this.seq;
    const waiting = this.counts.takeWaiting(seq);
    try {
      const fields = this.fieldsOf(waiting, seq);
      const writing = redis.multi().exists(key);
      for (let from = 0; from < fields.length; from += MEMBERS_PER_COMMAND) writing.hset(key, ...fields.slice(from, from + MEMBERS_PER_COMMAND));
      const replies = await writing.pexpire(key, JOURNAL_TTL_MS).exec();
      const failed = replies?.find(([error]) => error)?.[0];
      // Not ours, whatever it is: the next flush finds no hash and writes everything anew.
      if (failed?.message.startsWith('WRONGTYPE') === true) await redis.del(key);
      if (!replies || failed) throw failed ?? new Error('the journal flush was discarded');
      // Not in the MULTI: in a cluster these keys have other slots. The name after the hash, for a name without one is taken off the list.
      const [, foldedSeq] = await Promise.all([redis.sadd(redisKeys.journals, incarnation), redis.hget(redisKeys.journalAcks, incarnation)]);
      this.counts.settle(Number(foldedSeq ?? 0));
      // The hash was there at the last flush and is gone: the store lost it, so everything has to be written again.
      if (seq === 1 || replies[0]?.[1] !== 0) return;
    } catch (error) {
      this.counts.putBack(waiting, seq);
      throw error;
    }
    this.counts.markAllWaiting();
    if (this.isClosed) await this.write();
  }

  private fieldsOf(waiting: readonly JournalEntry[], seq: number): (string | number)[] {
    const { service, storeNow } = this.options;
    const fields: (string | number)[] = waiting.flatMap((entry) => [entry.field, entry.value]);
    fields.push('#seq', seq, '#at', Math.floor(storeNow()), '#service', service, '#dirty', JSON.stringify(this.counts.unfolded().map((entry) => entry.field)));
    return this.isClosed ? [...fields, '#closed', 1] : fields;
  }
}
