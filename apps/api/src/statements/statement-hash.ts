import { createHash } from 'node:crypto';
import type { ReconciliationLine, StatementAdjustment, StatementLine } from '@quotaplane/contracts';
import { canonicalJson } from '../http/canonical-json';

/** Stands before the first statement of every tenant. */
export const NO_HASH = '0'.repeat(64);

/** What of a statement is hashed: all that it says. Kept in `statements.content` as it was hashed. */
export interface StatementContent {
  readonly tenant: string;
  readonly number: number;
  readonly period: { readonly id: string; readonly start: string; readonly end: string; readonly timezone: string };
  readonly closedAt: string;
  readonly closedBy: string;
  readonly lines: readonly StatementLine[];
  readonly reconciliation: readonly ReconciliationLine[];
  readonly previousHash: string;
}

const sha256 = (value: object): string => createHash('sha256').update(canonicalJson(value)).digest('hex');

/** SHA-256, hex, over the canonical form (RFC 8785) of everything that a statement says and the hash of the tenant's statement before. */
export const statementHash = (content: StatementContent): string => sha256(content);

export type AdjustmentContent = Omit<StatementAdjustment, 'hash'>;

/** The same of an adjustment: the first one of a statement follows the statement's own hash, each other the adjustment before it. */
export const adjustmentHash = ({ number, at, meter, units, kind, reason, previousHash }: AdjustmentContent): string =>
  sha256({ number, at, meter, units, kind, reason, previousHash });
