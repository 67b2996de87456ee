import { z } from 'zod';
import { fieldErrorSchema } from '../errors';
import { exactInteger, instant, localDate, slug } from '../numbers';
import { changed } from './page';

/** Largest body of a posted journal, 5 MB. */
export const JOURNAL_BODY_BYTES = 5 * 1024 * 1024;
export const JOURNAL_DOCUMENT_VERSION = 1;

/** Parts and generations count from 1; Postgres keeps them as integers. */
const ordinal = z.int().min(0).max(999_999_999);

/** One billing cell of one life of a node: totals of that life, which only grow. */
const journalCellCounts = z
  .strictObject({
    tenant: slug,
    meter: slug,
    // The end of it has to be an instant, too.
    period: localDate.refine((date) => date >= '1970' && date < '9000', 'must be in the years 1970 to 8999'),
    part: ordinal,
    class: slug,
    generation: ordinal,
    admitted: exactInteger,
    /** Of `admitted`. */
    refunded: exactInteger,
    degraded: exactInteger,
    /** Units that the store may have counted for calls that were answered without it; never billed, they bound what can be `recovered`. */
    doubtful: exactInteger.default(0),
    /** Of `degraded`, by the start of the hour in store time. */
    degradedByHour: z.array(z.strictObject({ hour: instant.refine((text) => Date.parse(text) % 3_600_000 === 0, 'must be a full hour'), units: exactInteger })).max(1_000).default([]),
  })
  .refine(({ admitted, refunded }) => refunded <= admitted, { path: ['refunded'], error: 'must be at most what was admitted' })
  .refine(({ degraded, degradedByHour }) => degradedByHour.reduce((sum, { units }) => sum + units, 0) <= degraded, {
    path: ['degradedByHour'], error: 'must add up to at most what was admitted while degraded',
  });

/** What a node has counted and no fold has confirmed: posted by a node that must exit while Redis is away. */
export const journalDocument = z.strictObject({
  version: z.literal(JOURNAL_DOCUMENT_VERSION),
  /** Id of this life of the node; never used twice. */
  incarnation: z.uuid(),
  service: z.string().min(1).max(100),
  /** Of the node's last flush. */
  sequence: exactInteger,
  /** Store time of the document: everything that this life admitted before it is in here or was folded earlier. */
  at: instant,
  /** Whether this is the node's last word. */
  closed: z.boolean(),
  counts: z.array(journalCellCounts).max(20_000),
});
export type JournalDocument = z.infer<typeof journalDocument>;

/** `accepted` = cells that are in the ledger; `refused` points at the others and says why. Posting again changes nothing. */
export const journalAccepted = z.strictObject({ accepted: exactInteger, refused: z.array(fieldErrorSchema), ...changed });
