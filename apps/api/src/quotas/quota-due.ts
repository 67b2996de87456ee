import type { Tx } from '../database/prisma.service';
import type { TenantPolicyRows } from '../outbox/policy-rows';
import { saveQuotaDue } from './quota-sql';
import { quotaDueMs } from './quota-work';

/** Notes when published tenants' quota numbers change by themselves next; the caller holds their row locks. */
export const writeQuotaDue = (tx: Tx, tenants: readonly TenantPolicyRows[], nowMs: number): Promise<void> =>
  saveQuotaDue(tx, tenants.filter(({ deletedAt }) => deletedAt === null).map((rows) => ({ id: rows.id, dueMs: quotaDueMs(rows, nowMs) })));
