import type { PrismaService } from './prisma.service';

/**
 * Deletes a batch of minutes from before an instant, oldest first. SKIP LOCKED: several workers share the work, and nothing waits for a fold.
 * @returns rows deleted
 */
export async function deleteTrafficBefore(db: PrismaService, before: Date, batch: number): Promise<number> {
  return db.$executeRaw`
    DELETE FROM traffic_minutes USING (
      SELECT tenant, minute FROM traffic_minutes WHERE minute < ${before} ORDER BY minute, tenant LIMIT ${batch} FOR UPDATE SKIP LOCKED
    ) AS old WHERE traffic_minutes.tenant = old.tenant AND traffic_minutes.minute = old.minute`;
}

/**
 * Deletes a batch of changes that were published before an instant, with their revisions. Left are those that are not published, and those
 * whose revision is still a tenant's present one: they say which change brought what is enforced.
 * @returns changes deleted
 */
export async function deleteChangesBefore(db: PrismaService, before: Date, batch: number): Promise<number> {
  return db.transaction(async (tx) => {
    const old = await tx.$queryRaw<{ id: string }[]>`
      SELECT id FROM changes WHERE published_at < ${before} AND NOT EXISTS (
        SELECT 1 FROM change_revisions held JOIN tenants ON tenants.slug = held.tenant AND tenants.revision = held.revision WHERE held.change_id = changes.id
      ) ORDER BY published_at, id LIMIT ${batch} FOR UPDATE SKIP LOCKED`;
    const ids = old.map(({ id }) => id);
    await tx.changeRevision.deleteMany({ where: { changeId: { in: ids } } });
    return (await tx.change.deleteMany({ where: { id: { in: ids } } })).count;
  });
}

/** Deletes a batch of deliveries that have ended, made before an instant, oldest first. @returns rows deleted */
export async function deleteDeliveriesBefore(db: PrismaService, before: Date, batch: number): Promise<number> {
  return db.$executeRaw`
    DELETE FROM webhook_deliveries USING (
      SELECT id FROM webhook_deliveries WHERE created_at < ${before} AND state <> 'pending' ORDER BY created_at, id LIMIT ${batch} FOR UPDATE SKIP LOCKED
    ) AS old WHERE webhook_deliveries.id = old.id`;
}

/** Deletes a batch of events from before an instant that nothing is delivered of any more. Their keys are forgotten with them. @returns rows deleted */
export async function deleteEventsBefore(db: PrismaService, before: Date, batch: number): Promise<number> {
  return db.$executeRaw`
    DELETE FROM events USING (
      SELECT id FROM events WHERE fanned_out_at < ${before} AND NOT EXISTS (SELECT 1 FROM webhook_deliveries held WHERE held.event_id = events.id)
      ORDER BY fanned_out_at, id LIMIT ${batch} FOR UPDATE SKIP LOCKED
    ) AS old WHERE events.id = old.id`;
}

/**
 * Deletes a batch of ids of usage records that came before an instant, oldest first; with SKIP LOCKED, as above. A record that comes with one of
 * them meanwhile waits for the batch and is then new: it cannot be the same usage, for that would be older than a record may be.
 * @returns rows deleted
 */
export async function deleteRecordIdsBefore(db: PrismaService, before: Date, batch: number): Promise<number> {
  return db.$executeRaw`
    DELETE FROM usage_record_ids held USING (
      SELECT tenant, source, record_id FROM usage_record_ids WHERE received_at < ${before} ORDER BY received_at, tenant, source, record_id LIMIT ${batch} FOR UPDATE SKIP LOCKED
    ) AS old WHERE held.tenant = old.tenant AND held.source = old.source AND held.record_id = old.record_id`;
}
