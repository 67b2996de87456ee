import { overrideSubject, type Override, type OverrideMode, type TierContent } from '@quotaplane/contracts';
import type { OverrideRow } from '../database/rows';
import { storedOverrideSet } from '../outbox/policy-rows';
import { danglingNames, overrideStateAt } from './override-rules';

/** @param content of the tenant's tier now; undefined where it has none */
export const overrideFromRow = (row: OverrideRow, tenant: string, content: TierContent | undefined, now: Date): Override => {
  const set = storedOverrideSet(row.set);
  const subject = overrideSubject.parse(row.subject);
  return {
    id: row.id,
    tenant,
    subject,
    mode: row.mode as OverrideMode,
    set,
    reason: row.reason,
    ticket: row.ticket,
    from: row.from.toISOString(),
    until: row.until?.toISOString() ?? null,
    state: overrideStateAt(row, now),
    createdBy: row.createdBy,
    revertedBy: row.revertedBy,
    dangling: content ? danglingNames(set, content, subject.scope) : [],
    version: row.version,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
};
