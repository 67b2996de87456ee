import { statementLine, type StatementLine } from '@quotaplane/contracts';
import { z } from 'zod';
import type { StatementContent } from './statement-hash';

/** Columns of a statement with its adjustments, as Prisma reads them. */
export interface StatementRow {
  readonly id: string;
  readonly tenant: string;
  readonly periodId: string;
  readonly number: number;
  readonly startAt: Date;
  readonly closedAt: Date;
  readonly closedBy: string;
  readonly content: unknown;
  readonly previousHash: string;
  readonly hash: string;
  readonly adjustments: readonly AdjustmentRow[];
}

export interface AdjustmentRow {
  readonly number: number;
  readonly at: Date;
  readonly meter: string;
  readonly units: bigint;
  readonly kind: string;
  readonly reason: string | null;
  readonly previousHash: string;
  readonly hash: string;
}

export type StoredStatement = Omit<StatementRow, 'content'> & { readonly content: StatementContent };

/** Written by the closing alone, and append-only; whoever doubts that asks for a verification. */
export const storedStatement = (row: StatementRow): StoredStatement => ({ ...row, content: row.content as StatementContent });

const content = z.object({ lines: z.array(statementLine) });

/** Lines of a statement that may have been tampered with; undefined where they are none. */
export const readableLines = (row: Pick<StatementRow, 'content'>): readonly StatementLine[] | undefined => content.safeParse(row.content).data?.lines;
