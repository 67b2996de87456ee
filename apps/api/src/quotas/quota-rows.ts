import type { Calendar } from '@quotaplane/usage';

/** What one part of a period drew of a grant. */
export interface DrawRow {
  readonly periodId: string;
  readonly part: number;
  readonly units: number;
  readonly isFinal: boolean;
}

/** A top-up, with what was drawn of it so far. */
export interface GrantRow {
  readonly id: string;
  readonly meter: string;
  readonly units: number;
  readonly priority: number;
  readonly from: Date;
  readonly expiresAt: Date | null;
  readonly withdrawnAt: Date | null;
  readonly createdAt: Date;
  readonly draws: readonly DrawRow[];
}

/** Units that a period got from the one before. */
export interface CarryRow {
  readonly periodId: string;
  readonly meter: string;
  readonly units: number;
  readonly isFinal: boolean;
}

/** All that comes on top of a tenant's allowances, as it is persisted. */
export interface QuotaRows {
  readonly calendars: readonly Calendar[];
  readonly grants: readonly GrantRow[];
  readonly carries: readonly CarryRow[];
}

/** From when on a grant can be drawn; not before it was made, whatever it says. */
export const grantStartMs = ({ from, createdAt }: Pick<GrantRow, 'from' | 'createdAt'>): number => Math.max(from.getTime(), createdAt.getTime());

/** When it can be drawn no more: its end, or when it was withdrawn; `Infinity` while neither is known. */
export const grantEndMs = ({ expiresAt, withdrawnAt }: Pick<GrantRow, 'expiresAt' | 'withdrawnAt'>): number =>
  Math.min(expiresAt?.getTime() ?? Infinity, withdrawnAt?.getTime() ?? Infinity);

/** Order in which grants are spent: lowest priority number, then soonest-ending, then oldest. Total, so that everybody spends the same. */
export const bySpending = (a: GrantRow, b: GrantRow): number => {
  const [endA, endB] = [a.expiresAt?.getTime() ?? Infinity, b.expiresAt?.getTime() ?? Infinity];
  if (a.priority !== b.priority) return a.priority - b.priority;
  if (endA !== endB) return endA < endB ? -1 : 1;
  return a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1);
};
