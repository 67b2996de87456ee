import { JOURNAL_DOCUMENT_VERSION, type JournalDocument } from '@quotaplane/contracts';
import type { JournalCounts } from './journal-counts';
import { HOUR_MS, parseJournalField } from './journal-field';
import type { JournalBatch, JournalRow } from './journal-reader';

export interface JournalLife {
  readonly incarnation: string;
  readonly service: string;
  readonly sequence: number;
  readonly atMs: number;
  readonly isClosed: boolean;
}

type Cell = JournalDocument['counts'][number];

const cellId = (field: string): string => field.slice(0, field.lastIndexOf('|'));
const startOf = (hour: number): string => new Date(hour * HOUR_MS).toISOString();

/** The unfolded cells of a journal, each with all of its counts: a cell is complete, so that its counts can be held against each other. */
export const journalDocumentOf = (counts: JournalCounts, { incarnation, service, sequence, atMs, isClosed }: JournalLife): JournalDocument => {
  const cells = new Map<string, Cell | null>(counts.unfolded().map(({ field }) => [cellId(field), null]));
  for (const { field, value } of counts.all()) {
    const id = cellId(field);
    const parts = cells.has(id) ? parseJournalField(field) : null;
    if (!parts) continue;
    const { periodId, ...cell } = parts.cell;
    const known = cells.get(id) ?? { ...cell, period: periodId, admitted: 0, refunded: 0, degraded: 0, doubtful: 0, degradedByHour: [] };
    if (parts.hour === null) known[parts.count] = value;
    else known.degradedByHour.push({ hour: startOf(parts.hour), units: value });
    cells.set(id, known);
  }
  return {
    version: JOURNAL_DOCUMENT_VERSION, incarnation, service, sequence, at: new Date(Math.floor(atMs)).toISOString(), closed: isClosed,
    counts: [...cells.values()].filter((cell) => cell !== null),
  };
};

/** A posted document as the fold takes it: the same rows as from Redis, so that either, or both, count once. */
export const batchOfDocument = ({ incarnation, service, sequence, at, closed, counts }: JournalDocument): JournalBatch => ({
  incarnation, service, seq: sequence, atMs: Date.parse(at), isClosed: closed,
  rows: counts.map(({ period, admitted, refunded, degraded, doubtful, degradedByHour, ...cell }): JournalRow => ({
    ...cell, periodId: period, incarnation, admitted: BigInt(admitted), refunded: BigInt(refunded), degraded: BigInt(degraded), doubtful: BigInt(doubtful),
    degradedHours: new Map(degradedByHour.map(({ hour, units }) => [Date.parse(hour) / HOUR_MS, BigInt(units)])),
  })),
});
