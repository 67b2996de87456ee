import { z } from 'zod';
import { overage } from '../limits';
import { decimalString, exactInteger, instant, localDate, slug } from '../numbers';
import { changed, pageOf, pageQuery } from './page';
import { shownPeriod, usageBreakdown } from './usage';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** One meter of a statement. A tier change with `restart` splits it into parts, whose overages add up. */
export const statementLine = z.strictObject({
  meter: slug,
  ...usageBreakdown.shape,
  used: decimalString,
  /** Carried over from the period before, and into the next one. */
  carriedIn: decimalString,
  carriedOut: decimalString,
  /** Drawn from top-ups. */
  granted: decimalString,
  allowance: decimalString.nullable(),
  overage: decimalString,
  billable: decimalString,
  overagePolicy: overage,
  parts: z.array(z.strictObject({ part: z.int().min(1), tier: slug, tierVersion: exactInteger, used: decimalString, allowance: decimalString.nullable(), overage: decimalString, billable: decimalString })),
});
export type StatementLine = z.infer<typeof statementLine>;

/**
 * The guards' own count of one meter, read from three stores at closing: `counters` from Redis (the counter of the last generation with its base),
 * `journals` from the nodes' own hashes in Redis, `ledger` from Postgres. Null where a store holds nothing any more. `difference` is to the ledger;
 * `explained` says why one may differ (a store was lost, a node never came back).
 */
export const reconciliationLine = z.strictObject({
  meter: slug,
  counters: decimalString.nullable(),
  journals: decimalString.nullable(),
  ledger: decimalString,
  countersDifference: decimalString.nullable(),
  journalsDifference: decimalString.nullable(),
  agrees: z.boolean(),
  explained: z.array(z.string()),
});
export type ReconciliationLine = z.infer<typeof reconciliationLine>;

/**
 * What came after closing. Numbered from 1 within its statement; `units` by meter may be negative. `hash` = SHA-256 over the canonical form of
 * {number, at, meter, units, kind, reason, previousHash}; `previousHash` is the adjustment before, the statement's own for the first.
 */
export const statementAdjustment = z.strictObject({
  number: z.int().min(1),
  at: instant,
  meter: slug,
  units: decimalString,
  kind: z.enum(['external', 'correction', 'journal', 'recovered']),
  reason: z.string().nullable(),
  previousHash: sha256,
  hash: sha256,
});
export type StatementAdjustment = z.infer<typeof statementAdjustment>;

/**
 * A closed period. `hash` = SHA-256 over the canonical form (RFC 8785: members sorted, no spaces) of {tenant, number, period, closedAt, closedBy, lines, reconciliation, previousHash};
 * `previousHash` is the tenant's statement before, 64 zeros for the first.
 */
export const statementSchema = z.strictObject({
  id: z.uuid(),
  tenant: slug,
  /** Counts the tenant's statements from 1. */
  number: z.int().min(1),
  period: shownPeriod,
  closedAt: instant,
  closedBy: z.string(),
  lines: z.array(statementLine),
  reconciliation: z.array(reconciliationLine),
  previousHash: sha256,
  hash: sha256,
  adjustments: z.array(statementAdjustment),
  /** Lines and adjustments together, by meter. */
  totals: z.array(z.strictObject({ meter: slug, used: decimalString, billable: decimalString, adjusted: decimalString })),
});
export type Statement = z.infer<typeof statementSchema>;
export const statementPage = pageOf(statementSchema);
/** `period`: `2026-11` selects statements of periods that start in that month. Newest closing first. */
export const statementQuery = pageQuery.extend({ tenant: slug.optional(), period: z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'must be YYYY-MM').optional() });
export const statementExportQuery = z.strictObject({
  period: z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'must be YYYY-MM'),
  format: z.enum(['csv', 'ndjson']).default('csv'),
  tenant: slug.optional(),
  cursor: z.string().max(500).optional(),
});
export const bySlugAndPeriod = z.strictObject({ slug, period: localDate });
export const statementClosed = statementSchema.extend(changed);

/** What a statement says against what the raw rows say now, and whether the chain holds. */
export const statementVerification = z.strictObject({
  isSound: z.boolean(),
  statements: exactInteger,
  tenants: exactInteger,
  /** At most 100. */
  problems: z.array(z.strictObject({ tenant: slug, number: z.int(), period: localDate, problem: z.enum(['hash', 'chain', 'adjustment', 'figures']), detail: z.string() })),
  tookMs: exactInteger,
});
export type StatementVerification = z.infer<typeof statementVerification>;
export const statementVerificationQuery = z.strictObject({ tenant: slug.optional() });
