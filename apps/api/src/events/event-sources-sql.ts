import type { Tx } from '../database/prisma.service';

export interface EndingOverride {
  readonly id: string;
  readonly tenant: string;
  readonly until: Date;
  readonly reason: string;
}

/**
 * Overrides that end in `(now, horizon]` and whose event for that very end is not recorded yet, soonest first. The rows are locked against being moved
 * or reverted until the events are in; one that is being edited is left for the next sweep.
 */
export function selectEndingOverrides(tx: Tx, { now, horizon, limit }: { readonly now: Date; readonly horizon: Date; readonly limit: number }): Promise<EndingOverride[]> {
  return tx.$queryRaw<EndingOverride[]>`
    SELECT o.id::text AS id, t.slug AS tenant, o.until_at AS until, o.reason FROM overrides o JOIN tenants t ON t.id = o.tenant_id
    WHERE o.until_at > ${now} AND o.until_at <= ${horizon} AND o.reverted_at IS NULL AND t.deleted_at IS NULL AND NOT EXISTS (
      SELECT FROM events e WHERE e.dedupe_key = 'ending|' || o.id || '|' || to_char(o.until_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    ORDER BY o.until_at, o.id LIMIT ${limit} FOR SHARE OF o SKIP LOCKED`;
}

export interface LimitedTenant {
  readonly tenant: string;
  readonly hour: Date;
  readonly denied: bigint;
  /** Limit or quota -> denials, of the hour so far. */
  readonly limits: Readonly<Record<string, number>>;
}

/**
 * Tenants that were denied since `from`, whose event for that hour is not recorded yet, with all denials of the hour so far. Reads the minutes since `from`
 * by their index, and whole hours of the few that are new; takes no lock.
 */
export function selectLimitedTenants(tx: Tx, from: Date, limit: number): Promise<LimitedTenant[]> {
  return tx.$queryRaw<LimitedTenant[]>`
    WITH limited AS MATERIALIZED (
      SELECT DISTINCT m.tenant, date_trunc('hour', m.minute, 'UTC') AS hour FROM traffic_minutes m
      JOIN tenants t ON t.slug = m.tenant AND t.deleted_at IS NULL
      WHERE m.minute >= ${from} AND m.denied > 0
    ), fresh AS MATERIALIZED (
      SELECT l.tenant, l.hour FROM limited l
      WHERE NOT EXISTS (SELECT FROM events e WHERE e.dedupe_key = 'limited|' || l.tenant || '|' || to_char(l.hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24'))
      ORDER BY l.tenant, l.hour LIMIT ${limit}
    )
    SELECT f.tenant, f.hour,
      (SELECT sum(m.denied)::bigint FROM traffic_minutes m WHERE m.tenant = f.tenant AND m.minute >= f.hour AND m.minute < f.hour + interval '1 hour') AS denied,
      COALESCE((SELECT json_object_agg(name, denied) FROM (
        SELECT entry.key AS name, sum(entry.value::bigint) AS denied FROM traffic_minutes m, jsonb_each_text(m.denied_by_limit) AS entry
        WHERE m.tenant = f.tenant AND m.minute >= f.hour AND m.minute < f.hour + interval '1 hour' GROUP BY 1) AS by_limit), '{}') AS limits
    FROM fresh f`;
}
