import type { EventType } from '@quotaplane/contracts';
import type { PrismaService, Tx } from '../database/prisma.service';
import type { OutboundLimit } from './outbound-limits';

/**
 * Makes a delivery for every active endpoint that wants an event, once per endpoint and event, and marks the event as done, in one statement. Events are
 * claimed with SKIP LOCKED, so that several workers share them; endpoints are locked against being deleted or ended
 * meanwhile, where there is an event at all.
 * @returns events fanned out
 */
export function fanOutEvents(db: PrismaService, now: Date, limit: number): Promise<number> {
  return db.$executeRaw`
    WITH fresh AS MATERIALIZED (
      SELECT id, type, tenant FROM events WHERE fanned_out_at IS NULL ORDER BY created_at, id LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ), wanting AS MATERIALIZED (
      SELECT id, events, tenant FROM webhooks WHERE EXISTS (SELECT FROM fresh) AND status = 'active' AND deleted_at IS NULL ORDER BY id FOR SHARE
    ), made AS (
      INSERT INTO webhook_deliveries (id, webhook_id, event_id, state, next_attempt_at, created_at)
      SELECT gen_random_uuid(), w.id, e.id, 'pending', ${now}, ${now} FROM fresh e
      JOIN wanting w ON e.type = ANY(w.events) AND (w.tenant IS NULL OR w.tenant = e.tenant)
      ON CONFLICT (webhook_id, event_id) DO NOTHING
    )
    UPDATE events SET fanned_out_at = ${now} FROM fresh WHERE events.id = fresh.id`;
}

/** An endpoint with deliveries that are due; `due` counts at most 100, for no endpoint sends more at once. */
export interface DueEndpoint extends OutboundLimit {
  readonly due: number;
}

/** Reads the index of (endpoint, state, next attempt) once per active endpoint; takes no lock. */
export function dueEndpoints(db: PrismaService, now: Date): Promise<DueEndpoint[]> {
  return db.$queryRaw<DueEndpoint[]>`
    SELECT w.id::text AS id, w.rate_per_second AS "ratePerSecond", w.concurrency, waiting.due::int AS due FROM webhooks w
    CROSS JOIN LATERAL (SELECT count(*) AS due FROM (
      SELECT FROM webhook_deliveries d WHERE d.webhook_id = w.id AND d.state = 'pending' AND d.next_attempt_at <= ${now}
        AND (d.leased_until IS NULL OR d.leased_until <= ${now}) LIMIT 100) AS soonest) AS waiting
    WHERE w.status = 'active' AND w.deleted_at IS NULL AND waiting.due > 0 ORDER BY w.id`;
}

/** A delivery that is this worker's until `leasedUntil`, which also tells its claim from any other. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly attempts: number;
  readonly leasedUntil: Date;
  readonly url: string;
  readonly secret: string;
  readonly formerSecret: string | null;
  readonly formerSecretUntil: Date | null;
  readonly eventId: string;
  readonly type: EventType;
  readonly at: Date;
  readonly data: unknown;
}

/** Claims due deliveries of one endpoint, those due longest first. Rows that another worker is claiming are passed over. */
export function claimDeliveries(db: PrismaService, claim: { readonly webhookId: string; readonly most: number; readonly now: Date; readonly leasedUntil: Date }): Promise<ClaimedDelivery[]> {
  const { webhookId, most, now, leasedUntil } = claim;
  return db.$queryRaw<ClaimedDelivery[]>`
    WITH claimed AS MATERIALIZED (
      SELECT id FROM webhook_deliveries WHERE webhook_id = ${webhookId}::uuid AND state = 'pending' AND next_attempt_at <= ${now}
        AND (leased_until IS NULL OR leased_until <= ${now})
      ORDER BY next_attempt_at, id LIMIT ${most} FOR UPDATE SKIP LOCKED
    )
    UPDATE webhook_deliveries d SET leased_until = ${leasedUntil}
    FROM claimed, webhooks w, events e
    WHERE d.id = claimed.id AND w.id = d.webhook_id AND w.status = 'active' AND w.deleted_at IS NULL AND e.id = d.event_id
    RETURNING d.id::text AS id, w.id::text AS "webhookId", d.attempts, d.leased_until AS "leasedUntil", w.url, w.secret, w.former_secret AS "formerSecret",
      w.former_secret_until AS "formerSecretUntil", e.id::text AS "eventId", e.type, e.at, e.data`;
}

export interface AttemptMark {
  readonly state: 'pending' | 'delivered' | 'failed' | 'given-up';
  readonly nextAttemptAt: Date | null;
  readonly attempt: { readonly at: string; readonly status: number | null; readonly error: string | null; readonly tookMs: number };
}

/**
 * Writes down an attempt under the claim it was made with: a claim that ran out, or whose endpoint was deleted, writes nothing, so that each attempt counts
 * once. The endpoint's row is locked first, as everywhere; its version stays, for nobody has edited it.
 * @returns whether the claim still held
 */
export async function markAttempt(db: PrismaService | Tx, { id, webhookId, leasedUntil }: Pick<ClaimedDelivery, 'id' | 'webhookId' | 'leasedUntil'>, mark: AttemptMark): Promise<boolean> {
  const { attempt } = mark;
  const lastStatus = attempt.status === null ? attempt.error : String(attempt.status);
  const marked = await db.$executeRaw`
    WITH endpoint AS MATERIALIZED (SELECT id FROM webhooks WHERE id = ${webhookId}::uuid FOR UPDATE), marked AS (
      UPDATE webhook_deliveries d SET state = ${mark.state}, attempts = attempts + 1, next_attempt_at = ${mark.nextAttemptAt}, leased_until = NULL,
        log = jsonb_path_query_array(jsonb_build_array(${JSON.stringify(attempt)}::jsonb) || log, '$[0 to 19]')
      FROM endpoint
      WHERE d.webhook_id = endpoint.id AND d.id = ${id}::uuid AND d.state = 'pending' AND d.leased_until = ${leasedUntil}
      RETURNING d.webhook_id
    )
    UPDATE webhooks SET last_delivery_at = ${new Date(attempt.at)}, last_status = ${lastStatus} FROM marked WHERE webhooks.id = marked.webhook_id`;
  return marked === 1;
}

/** Gives a claim back that came to nothing, so that another worker need not wait for its end. */
export async function dropClaim(db: PrismaService, { id, leasedUntil }: Pick<ClaimedDelivery, 'id' | 'leasedUntil'>): Promise<void> {
  await db.$executeRaw`UPDATE webhook_deliveries SET leased_until = NULL WHERE id = ${id}::uuid AND leased_until = ${leasedUntil}`;
}

/** Locks an endpoint, so that it is neither deleted nor ended until the transaction does. @returns whether it is active */
export async function lockActive(tx: Tx, webhookId: string): Promise<boolean> {
  const rows = await tx.$queryRaw<unknown[]>`SELECT FROM webhooks WHERE id = ${webhookId}::uuid AND status = 'active' AND deleted_at IS NULL FOR UPDATE`;
  return rows.length === 1;
}

/** Ends what waits of an endpoint that is no more. Call it after the endpoint's own row was updated. */
export async function endPending(tx: Tx, webhookId: string): Promise<void> {
  await tx.webhookDelivery.updateMany({ where: { webhookId, state: 'pending' }, data: { state: 'failed', nextAttemptAt: null, leasedUntil: null } });
}

/** Deliveries that wait for an endpoint that is not deleted: the sender's backlog. */
export async function countPending(db: PrismaService): Promise<number> {
  return db.webhookDelivery.count({ where: { state: 'pending', webhook: { deletedAt: null } } });
}
