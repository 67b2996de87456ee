import { JOURNAL_TTL_MS, MAX_EXACT, redisKeys } from '@quotaplane/contracts';
import type { Redis } from 'ioredis';
import { FlushLoop, type FlushOptions } from './flush-loop';
import { journalField, type JournalCell, type JournalCount } from './journal-field';

export interface JournalOptions extends FlushOptions {
  readonly redis: Redis;
  /** Id of this life of the node; never used twice. */
  readonly incarnation: string;
  readonly service: string;
  /** Store time in ms, for `asOf`. */
  readonly storeNow: () => number;
}

interface Entry {
  readonly field: string;
  value: number;
  /** Flush that carried the last change; Infinity while a change waits for its first flush, 0 once folded. */
  flushedSeq: number;
}

const WAITING = Number.POSITIVE_INFINITY;
const FOLDED = 0;

/**
 * What this incarnation admitted, refunded and admitted while degraded: counts that only grow (M3). Each second the dirty ones are written
 * into this incarnation's own hash; they stay dirty until the fold has them in Postgres. Repeats are harmless, losses are written again.
 * @see docs/adr/0003-journal.md
 */
export class Journal {
  private readonly entries = new Map<string, Entry>();
  private readonly byCell = new WeakMap<JournalCell, Map<JournalCount, Entry>>();
  private readonly dirty = new Set<Entry>();
  private readonly loop: FlushLoop;
  private readonly onReconnect = (): void => this.markAllDirty();
  private seq = 0;

  constructor(private readonly options: JournalOptions) {
    this.loop = new FlushLoop(() => this.write(false), options);
    // Another Redis, or one with older data, is only ever met through a new connection.
    options.redis.on('ready', this.onReconnect);
  }

  start(): void {
    this.loop.start();
  }

  /** @param units whole units, 0 or more; pass the same cell object again and no key text is built */
  admit(cell: JournalCell, units: number): void {
    this.add(cell, 'admitted', units);
  }

  refund(cell: JournalCell, units: number): void {
    this.add(cell, 'refunded', units);
  }

  /** Admitted while the store could not be asked; the ledger settles it by the tier's `degraded` policy. */
  admitDegraded(cell: JournalCell, units: number): void {
    this.add(cell, 'degraded', units);
  }

  /** Writes what waits; false when the store did not take it (it stays dirty). */
  async flush(): Promise<boolean> {
    return this.loop.runOnce();
  }

  /**
   * Last flush of this life; marks the incarnation closed, so that the fold may delete its hash.
   * @returns counts that no fold has confirmed and this flush could not write, for the caller to log: nothing is lost in silence
   */
  async close(): Promise<{ readonly atRisk: Readonly<Record<string, number>> }> {
    await this.loop.stop();
    this.options.redis.off('ready', this.onReconnect);
    try {
      await this.write(true);
      return { atRisk: {} };
    } catch {
      return { atRisk: Object.fromEntries([...this.dirty].map((entry) => [entry.field, entry.value])) };
    }
  }

  private add(cell: JournalCell, count: JournalCount, units: number): void {
    if (units === 0) return;
    const entry = this.entryOf(cell, count);
    // Past 2^53-1 a count is no longer exact, and the ledger refuses it.
    entry.value = Math.min(entry.value + units, MAX_EXACT);
    entry.flushedSeq = WAITING;
    this.dirty.add(entry);
  }

  private entryOf(cell: JournalCell, count: JournalCount): Entry {
    let counts = this.byCell.get(cell);
    if (!counts) this.byCell.set(cell, (counts = new Map()));
    let entry = counts.get(count);
    if (!entry) {
      const field = journalField(cell, count);
      entry = this.entries.get(field) ?? { field, value: 0, flushedSeq: FOLDED };
      this.entries.set(field, entry);
      counts.set(count, entry);
    }
    return entry;
  }

  private markAllDirty(): void {
    for (const entry of this.entries.values()) {
      entry.flushedSeq = WAITING;
      this.dirty.add(entry);
    }
  }

  private async write(isFinal: boolean): Promise<void> {
    const { redis, incarnation, service, storeNow } = this.options;
    const key = redisKeys.journal(incarnation);
    const seq = ++this.seq;
    const waiting = [...this.dirty].filter((entry) => entry.flushedSeq === WAITING);
    const fields: (string | number)[] = waiting.flatMap((entry) => [entry.field, entry.value]);
    fields.push('#seq', seq, '#at', Math.floor(storeNow()), '#service', service, '#dirty', JSON.stringify([...this.dirty].map((entry) => entry.field)));
    if (isFinal) fields.push('#closed', 1);
    // Marked before the write: a count that grows while it is under way has to be dirty again.
    for (const entry of waiting) entry.flushedSeq = seq;
    const replies = await redis
      .multi()
      .exists(key)
      .hset(key, ...fields)
      .pexpire(key, JOURNAL_TTL_MS)
      .sadd(redisKeys.journals, incarnation)
      .hget(redisKeys.journalAcks, incarnation)
      .exec()
      .catch((error: unknown) => {
        this.unmark(waiting, seq);
        throw error;
      });
    const failed = replies?.find(([error]) => error)?.[0];
    if (!replies || failed) {
      this.unmark(waiting, seq);
      throw failed ?? new Error('the journal flush was discarded');
    }
    this.settleAcks(Number(replies[4]?.[1] ?? 0));
    // The hash was there at the last flush and is gone: the store lost it, so everything has to be written again.
    if (seq > 1 && replies[0]?.[1] === 0) {
      this.markAllDirty();
      if (isFinal) await this.write(true);
    }
  }

  private unmark(entries: readonly Entry[], seq: number): void {
    for (const entry of entries) if (entry.flushedSeq === seq) entry.flushedSeq = WAITING;
  }

  private settleAcks(ackedSeq: number): void {
    for (const entry of this.dirty) {
      if (entry.flushedSeq > ackedSeq) continue;
      entry.flushedSeq = FOLDED;
      this.dirty.delete(entry);
    }
  }
}
