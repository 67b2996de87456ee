import type { Tx } from '../database/prisma.service';
import type { PeriodKey } from './raw-sums';

/**
 * Takes notes of late usage in closed periods, oldest first, and holds them for the life of the transaction: workers share them, and a killed one gives them back.
 * A note that a writer still holds is left out, for what it writes cannot be read yet.
 */
export function claimNotes(tx: Tx, limit: number): Promise<PeriodKey[]> {
  return tx.$queryRaw`
    SELECT l.tenant, l.period_id AS "periodId" FROM usage_late l
    JOIN usage_periods p ON p.tenant = l.tenant AND p.period_id = l.period_id
    WHERE p.closed_at IS NOT NULL ORDER BY l.noted_at, l.tenant, l.period_id LIMIT ${limit} FOR UPDATE OF l SKIP LOCKED`;
}

export async function dropNotes(tx: Tx, notes: readonly PeriodKey[]): Promise<void> {
  await tx.$executeRaw`
    DELETE FROM usage_late l USING unnest(${notes.map(({ tenant }) => tenant)}::text[], ${notes.map(({ periodId }) => periodId)}::text[]) AS d(tenant, period_id)
    WHERE l.tenant = d.tenant AND l.period_id = d.period_id`;
}

/** Records that came after closing, by meter: what they add, what they take off, and why. */
export interface LateRecords extends PeriodKey {
  readonly meter: string;
  readonly added: bigint;
  /** Negative or 0. */
  readonly corrected: bigint;
  readonly reasons: readonly { readonly reason: string; readonly receivedAt: Date }[];
}

/** Records of kind `adjustment` in some periods. By ANY, so that the partitions of other months are left out. */
export async function readLateRecords(tx: Tx, periods: readonly PeriodKey[]): Promise<LateRecords[]> {
  const rows = await tx.$queryRaw<(PeriodKey & { meter: string; added: string; corrected: string; reasons: { reason: string; receivedAt: string }[] | null })[]>`
    SELECT tenant, period_id AS "periodId", meter, COALESCE(sum(units) FILTER (WHERE units > 0), 0)::text AS added, COALESCE(sum(units) FILTER (WHERE units < 0), 0)::text AS corrected,
      jsonb_agg(jsonb_build_object('reason', reason, 'receivedAt', to_char(received_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) ORDER BY received_at, source, record_id)
        FILTER (WHERE reason IS NOT NULL) AS reasons
    FROM usage_records WHERE kind = 'adjustment' AND period_id = ANY(${[...new Set(periods.map(({ periodId }) => periodId))]}::text[])
      AND tenant = ANY(${[...new Set(periods.map(({ tenant }) => tenant))]}::text[])
    GROUP BY tenant, period_id, meter`;
  return rows.map((row) => ({
    ...row, added: BigInt(row.added), corrected: BigInt(row.corrected), reasons: (row.reasons ?? []).map(({ reason, receivedAt }) => ({ reason, receivedAt: new Date(receivedAt) })),
  }));
}
