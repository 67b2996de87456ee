import type { SubjectPenalty } from '@quotaplane/contracts';
import type { ListEntryRow } from '../database/rows';
import { entryStateAt, subjectOf } from '../lists/list-entry';
import type { AutomaticBan } from './automatic-penalties';

/** One that an operator set; `until` is compulsory for it. */
export const penaltyFromRow = (row: ListEntryRow, now: Date): SubjectPenalty => ({
  id: row.id,
  kind: 'manual',
  tenant: row.tenant,
  subject: subjectOf(row),
  limit: null,
  level: null,
  from: row.from.toISOString(),
  until: (row.until ?? row.from).toISOString(),
  state: entryStateAt(row, now),
  reason: row.reason,
  ticket: row.ticket,
  createdBy: row.createdBy,
  liftedBy: row.endedBy,
  version: row.version,
  createdAt: row.createdAt.toISOString(),
});

/** One that a limit set by itself and that runs. Its level is its version: a lift never hits a later ban than the one that was seen. */
export const penaltyFromBan = (ban: AutomaticBan): SubjectPenalty => ({
  id: ban.id,
  kind: 'automatic',
  tenant: ban.tenant,
  subject: { scope: ban.scope, id: ban.subject },
  limit: ban.limit,
  level: ban.level,
  from: new Date(ban.startedMs).toISOString(),
  until: new Date(ban.untilMs).toISOString(),
  state: 'active',
  reason: null,
  ticket: null,
  createdBy: null,
  liftedBy: null,
  version: ban.level,
  createdAt: new Date(ban.startedMs).toISOString(),
});
