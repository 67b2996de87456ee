import type { UsageTransfer } from '@quotaplane/policy';
import type { Tx } from '../database/prisma.service';
import { tenantPeriodAt, type HasCalendars } from './tenant-calendar';
import { invalidField, type UsableTier } from './tenant-rules';
import type { AssignedTenant } from './tenants.mapping';

/** A move of a tenant to another tier. */
export interface Move {
  readonly at: Date;
  readonly effectiveAt: Date;
  readonly usage: UsageTransfer;
  readonly by: string;
  readonly reason?: string;
}

/** Writes a move and drops those that were still to come. */
export async function moveTo(tx: Tx, row: AssignedTenant, tier: UsableTier, { at, effectiveAt, usage, by, reason }: Move): Promise<void> {
  await tx.tierAssignment.deleteMany({ where: { tenantId: row.id, effectiveAt: { gt: at } } });
  const fields = { tierId: tier.id, usage, reason: reason ?? null, createdAt: at, createdBy: by };
  // Two moves in one millisecond: the later one stands.
  await tx.tierAssignment.upsert({
    where: { tenantId_effectiveAt: { tenantId: row.id, effectiveAt } },
    create: { ...fields, tenantId: row.id, effectiveAt },
    update: fields,
  });
}

/** @throws {DomainError} invalid for an instant that has passed */
export function moveInstant(effectiveAt: string, tenant: HasCalendars, at: Date, pointer = '/effectiveAt'): Date {
  if (effectiveAt === 'now') return at;
  if (effectiveAt === 'period-end') return new Date(tenantPeriodAt(tenant, at.getTime()).endMs);
  const instant = new Date(effectiveAt);
  if (instant <= at) throw invalidField(pointer, 'must be in the future, or now');
  return instant;
}

/** At a period's start there is nothing to prorate and nothing to restart: the new period is whole. */
export const moveUsage = (usage: UsageTransfer, tenant: HasCalendars, effectiveAt: Date): UsageTransfer =>
  tenantPeriodAt(tenant, effectiveAt.getTime()).startMs === effectiveAt.getTime() ? 'carry' : usage;
