import { z } from 'zod';

const text = (length: number) => z.string().min(1).max(length).optional().catch(undefined);
const day = z.iso.date().optional().catch(undefined);

/** Filters of the audit log as they stand in the URL; days are whole days in the operator's zone. */
export const auditSearch = z.object({ tenant: text(63), entity: text(200), actor: text(200), action: text(100), from: day, to: day });
export type AuditSearch = z.infer<typeof auditSearch>;
