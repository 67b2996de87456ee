import { actorSchema, type AuditEntry } from '@quotaplane/contracts';
import { z } from 'zod';
import type { AuditEntryRow } from '../database/rows';

/** JSON columns hold what ChangesService wrote; any JSON value may come back. */
const json = z.json().nullable();

export function auditEntryFrom(row: AuditEntryRow): AuditEntry {
  return {
    id: row.id,
    chain: row.chain,
    seq: row.seq.toString(),
    at: row.at.toISOString(),
    actor: actorSchema.parse(row.actor),
    action: row.action,
    entity: { type: row.entityType, id: row.entityId },
    tenant: row.tenant,
    reason: row.reason,
    ticket: row.ticket,
    before: json.parse(row.before),
    after: json.parse(row.after),
    changeId: row.changeId,
    requestId: row.requestId,
    prevHash: row.prevHash,
    hash: row.hash,
  };
}
