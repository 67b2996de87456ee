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
export type JournalCount = 'admitted' | 'refunded' | 'degraded';
export const JOURNAL_COUNTS: readonly JournalCount[] = ['admitted', 'refunded', 'degraded'];

/** Hash field of one count: `tenant|meter|period|part|class|generation|count`. */
export const journalField = (cell: JournalCell, count: JournalCount): string =>
  [cell.tenant, cell.meter, cell.periodId, cell.part, cell.class, cell.generation, count].join('|');

const SLUG = /^[a-z0-9-]{1,63}$/;
const LOCAL_DATE = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
/** Part and generation are Postgres integers. */
const ORDINAL = /^\d{1,9}$/;

/** Inverse of {@link journalField}; null for anything else, such as the `#` fields of a journal or what the ledger could not keep. */
export const parseJournalField = (field: string): { cell: JournalCell; count: JournalCount } | null => {
  const [tenant, meter, periodId, part, className, generation, count, ...rest] = field.split('|');
  const known = JOURNAL_COUNTS.find((name) => name === count);
  if (tenant === undefined || meter === undefined || periodId === undefined || className === undefined || !known || rest.length > 0) return null;
  if (![tenant, meter, className].every((name) => SLUG.test(name)) || !LOCAL_DATE.test(periodId)) return null;
  if (!ORDINAL.test(part ?? '') || !ORDINAL.test(generation ?? '')) return null;
  return { cell: { tenant, meter, periodId, part: Number(part), class: className, generation: Number(generation) }, count: known };
};
