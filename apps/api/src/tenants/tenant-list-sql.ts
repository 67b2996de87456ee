import type { RouteInput, routes } from '@quotaplane/contracts';
import type { PrismaService } from '../database/prisma.service';
import { Prisma } from '../database/rows';

type Query = RouteInput<typeof routes.tenantsList>['query'];
type SortKey = 'slug' | 'name' | 'createdAt' | 'monthUsed';

export interface TenantListPlace {
  /** The sort column as text, as Postgres gave it out. */
  readonly key: string;
  readonly slug: string;
}

/** Id of the period that runs now: the one that was counted in, which a change of calendar does not move; else by the tenant's zone and anchor. */
const CURRENT_PERIOD = (now: Date): Prisma.Sql => Prisma.sql`COALESCE(
  (SELECT p.period_id FROM usage_periods p WHERE p.tenant = t.slug AND p.start_at <= ${now} AND p.end_at > ${now} LIMIT 1), ${CALENDAR_PERIOD(now)})`;

/** The anchor day, clipped to the month, of this month or the one before. */
const CALENDAR_PERIOD = (now: Date): Prisma.Sql => {
  const local = Prisma.sql`(${now}::timestamptz AT TIME ZONE t.timezone)::date`;
  const startIn = (month: Prisma.Sql): Prisma.Sql =>
    Prisma.sql`(${month} + (LEAST(t.anchor_day, EXTRACT(day FROM ${month} + interval '1 month' - interval '1 day')::int) - 1) * interval '1 day')::date`;
  const month = Prisma.sql`date_trunc('month', ${local}::timestamp)`;
  return Prisma.sql`to_char(CASE WHEN ${startIn(month)} <= ${local} THEN ${startIn(month)} ELSE ${startIn(Prisma.sql`(${month} - interval '1 month')`)} END, 'YYYY-MM-DD')`;
};

/** What is sorted by, as an expression and its type in a cursor. Code-unit order, so that no locale of the server moves a page. */
const sortExpression = (key: SortKey, now: Date): { readonly value: Prisma.Sql; readonly cast: Prisma.Sql } => {
  if (key === 'slug') return { value: Prisma.sql`t.slug COLLATE "C"`, cast: Prisma.sql`text` };
  if (key === 'name') return { value: Prisma.sql`lower(t.name) COLLATE "C"`, cast: Prisma.sql`text` };
  if (key === 'createdAt') return { value: Prisma.sql`(EXTRACT(epoch FROM t.created_at) * 1000)::bigint`, cast: Prisma.sql`bigint` };
  return {
    value: Prisma.sql`COALESCE((SELECT sum(j.admitted - j.refunded) FROM usage_journals j
      WHERE j.tenant = t.slug AND j.meter = 'requests' AND j.period_id = ${CURRENT_PERIOD(now)}), 0)::numeric`,
    cast: Prisma.sql`numeric`,
  };
};

/**
 * One page of tenants in a total order: the sort column, then the slug, which is unique (C074).
 * @returns up to `query.limit + 1` rows
 */
export function readTenantPage(
  db: PrismaService,
  query: Query,
  { after, only, now }: { readonly after: TenantListPlace | undefined; readonly only: string | null; readonly now: Date },
): Promise<TenantListPlace[]> {
  const isDown = query.sort.startsWith('-');
  const { value, cast } = sortExpression(query.sort.replace('-', '') as SortKey, now);
  const direction = isDown ? Prisma.sql`DESC` : Prisma.sql`ASC`;
  const beyond = isDown ? Prisma.sql`<` : Prisma.sql`>`;
  const conditions = [Prisma.sql`t.deleted_at IS NULL`];
  if (only !== null) conditions.push(Prisma.sql`t.slug = ${only}`);
  if (query.status) conditions.push(Prisma.sql`t.status = ${query.status}`);
  if (query.q) {
    const pattern = `%${query.q.replace(/[\\%_]/g, '\\$&')}%`;
    conditions.push(Prisma.sql`(t.slug ILIKE ${pattern} OR t.name ILIKE ${pattern})`);
  }
  if (query.tier) {
    conditions.push(Prisma.sql`${query.tier} = (SELECT tiers.slug FROM tier_assignments a JOIN tiers ON tiers.id = a.tier_id
      WHERE a.tenant_id = t.id AND a.effective_at <= ${now} ORDER BY a.effective_at DESC LIMIT 1)`);
  }
  const keyset = after ? Prisma.sql`WHERE (key, slug COLLATE "C") ${beyond} (${after.key}::${cast}, ${after.slug})` : Prisma.empty;
  return db.$queryRaw`
    SELECT key::text AS key, slug FROM (SELECT ${value} AS key, t.slug FROM tenants t WHERE ${Prisma.join(conditions, ' AND ')}) found
    ${keyset} ORDER BY key ${direction}, slug COLLATE "C" ${direction} LIMIT ${query.limit + 1}`;
}

/** Denials of the last hour and overrides in force, of many tenants at once. Rows of traffic exist only where there was some. */
export async function readTenantFigures(db: PrismaService, slugs: readonly string[], now: Date): Promise<ReadonlyMap<string, { readonly denied: number; readonly overrides: number }>> {
  const rows = await db.$queryRaw<{ slug: string; denied: bigint; overrides: bigint }[]>`
    SELECT t.slug,
      COALESCE((SELECT sum(m.denied) FROM traffic_minutes m WHERE m.tenant = t.slug AND m.minute > ${now}::timestamptz - interval '1 hour'), 0)::bigint AS denied,
      (SELECT count(*) FROM overrides o WHERE o.tenant_id = t.id AND o.reverted_at IS NULL AND o.from_at <= ${now} AND (o.until_at IS NULL OR o.until_at > ${now})) AS overrides
    FROM tenants t WHERE t.slug = ANY(${[...slugs]}::text[])`;
  return new Map(rows.map(({ slug, denied, overrides }) => [slug, { denied: Number(denied), overrides: Number(overrides) }]));
}
