import type { TopUp } from '@quotaplane/contracts';
import type { TopUpRow } from '../database/rows';
import { topUpStateAt } from './top-up-rules';

/** @param drawn units, in all periods */
export const topUpFromRow = (row: TopUpRow, tenant: string, drawn: number, now: Date): TopUp => {
  const units = Number(row.units);
  const state = topUpStateAt({ ...row, units }, drawn, now);
  return {
    id: row.id,
    tenant,
    meter: row.meter,
    units,
    drawn,
    remaining: state === 'withdrawn' || state === 'expired' ? 0 : units - drawn,
    state,
    reason: row.reason,
    ticket: row.ticket,
    from: row.from.toISOString(),
    expiresAt: row.expiresAt?.toISOString() ?? null,
    priority: row.priority,
    createdAt: row.createdAt.toISOString(),
    createdBy: row.createdBy,
    withdrawnAt: row.withdrawnAt?.toISOString() ?? null,
    withdrawnBy: row.withdrawnBy,
    version: row.version,
  };
};
