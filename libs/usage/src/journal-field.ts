/** What a journal counts by: one billing cell of one incarnation. Every member is a slug, a date or an integer, so '|' cannot occur in it. */
export interface JournalCell {
  readonly tenant: string;
  readonly meter: string;
  readonly periodId: string;
  readonly part: number;
  readonly class: string;
  readonly generation: number;
}

/** The counts of a cell; each only grows within an incarnation. */
export type JournalCount = 'admitted' | 'refunded' | 'degraded' | 'doubtful';
export const JOURNAL_COUNTS: readonly JournalCount[] = ['admitted', 'refunded', 'degraded', 'doubtful'];

/** The part of `degraded` that was admitted in one hour of store time, counted from 1970: it says when an outage gave away what. */
export type DegradedHour = `degraded@${number}`;

export const HOUR_MS = 3_600_000;
export const degradedHour = (atMs: number): DegradedHour => `degraded@${Math.floor(atMs / HOUR_MS)}`;

/** Hash field of one count: `tenant|meter|period|part|class|generation|count`. */
export const journalField = (cell: JournalCell, count: JournalCount | DegradedHour): string =>
  [cell.tenant, cell.meter, cell.periodId, cell.part, cell.class, cell.generation, count].join('|');

/** One count of a cell; `hour` where it is a {@link DegradedHour}. */
export interface JournalFieldParts {
  readonly cell: JournalCell;
  readonly count: JournalCount;
  readonly hour: number | null;
}

const SLUG = /^[a-z0-9-]{1,63}$/;
/** Of the years 1970 to 8999: the bounds of its period must be instants that Postgres can keep and JavaScript can read. */
const LOCAL_DATE = /^(19[7-9]\d|[2-8]\d{3})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
/** Part and generation are Postgres integers. */
const ORDINAL = /^\d{1,9}$/;
/** Hours to the year 9999 and a little more. */
const HOUR = /^degraded@(\d{1,8})$/;

/** Inverse of {@link journalField}; null for anything else, such as the `#` fields of a journal or what the ledger could not keep. */
export const parseJournalField = (field: string): JournalFieldParts | null => {
  const [tenant, meter, periodId, part, className, generation, name, ...rest] = field.split('|');
  const hour = HOUR.exec(name ?? '')?.[1];
  const count = hour === undefined ? JOURNAL_COUNTS.find((known) => known === name) : 'degraded';
  if (tenant === undefined || meter === undefined || periodId === undefined || className === undefined || !count || rest.length > 0) return null;
  if (![tenant, meter, className].every((slug) => SLUG.test(slug)) || !LOCAL_DATE.test(periodId)) return null;
  if (!ORDINAL.test(part ?? '') || !ORDINAL.test(generation ?? '')) return null;
  const cell = { tenant, meter, periodId, part: Number(part), class: className, generation: Number(generation) };
  return { cell, count, hour: hour === undefined ? null : Number(hour) };
};
