import { MAX_EXACT } from '@quotaplane/contracts';
import { journalField, type DegradedHour, type JournalCell, type JournalCount } from './journal-field';

/** One count of one cell. */
export interface JournalEntry {
  readonly field: string;
  value: number;
  /** Flush that carried the last change; Infinity while a change waits for its first flush, 0 once folded. */
  flushedSeq: number;
}

const WAITING = Number.POSITIVE_INFINITY;
const FOLDED = 0;

/** The counts of a journal: which have grown, which are under way, which are folded. */
export class JournalCounts {
  private readonly entries = new Map<string, JournalEntry>();
  private readonly byCell = new WeakMap<JournalCell, Map<JournalCount | DegradedHour, JournalEntry>>();
  private readonly dirty = new Set<JournalEntry>();
  /** Calls of a busy tenant come in rows. */
  private lastCell: JournalCell | undefined;
  private lastCount: JournalCount | DegradedHour | undefined;
  private lastEntry: JournalEntry | undefined;

  /** @param units whole units; past 2^53-1 a count is no longer exact and the ledger refuses it, so that it stays there */
  add(cell: JournalCell, count: JournalCount | DegradedHour, units: number): void {
    if (units === 0) return;
    const entry = this.entryOf(cell, count);
    entry.value = Math.min(entry.value + units, MAX_EXACT);
    // What waits is among the dirty already, and most admissions find it waiting.
    if (entry.flushedSeq === WAITING) return;
    entry.flushedSeq = WAITING;
    this.dirty.add(entry);
  }

  valueOf(cell: JournalCell, count: JournalCount): number {
    return this.byCell.get(cell)?.get(count)?.value ?? this.entries.get(journalField(cell, count))?.value ?? 0;
  }

  /** Every count so far, folded ones too. */
  all(): Iterable<JournalEntry> {
    return this.entries.values();
  }

  /** What no fold has confirmed. */
  unfolded(): JournalEntry[] {
    return [...this.dirty];
  }

  /** Takes what waits for its first flush. Marked before the write: a count that grows while it is under way has to be dirty again. */
  takeWaiting(seq: number): JournalEntry[] {
    const waiting = [...this.dirty].filter((entry) => entry.flushedSeq === WAITING);
    for (const entry of waiting) entry.flushedSeq = seq;
    return waiting;
  }

  /** The flush that took them failed. */
  putBack(entries: readonly JournalEntry[], seq: number): void {
    for (const entry of entries) if (entry.flushedSeq === seq) entry.flushedSeq = WAITING;
  }

  settle(foldedSeq: number): void {
    for (const entry of this.dirty) {
      if (entry.flushedSeq > foldedSeq) continue;
      entry.flushedSeq = FOLDED;
      this.dirty.delete(entry);
    }
  }

  markAllWaiting(): void {
    for (const entry of this.entries.values()) {
      entry.flushedSeq = WAITING;
      this.dirty.add(entry);
    }
  }

  private entryOf(cell: JournalCell, count: JournalCount | DegradedHour): JournalEntry {
    if (cell === this.lastCell && count === this.lastCount && this.lastEntry !== undefined) return this.lastEntry;
    const entry = this.findEntry(cell, count);
    [this.lastCell, this.lastCount, this.lastEntry] = [cell, count, entry];
    return entry;
  }

  private findEntry(cell: JournalCell, count: JournalCount | DegradedHour): JournalEntry {
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
}
