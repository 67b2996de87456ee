import type { RouteInput, routes } from '@quotaplane/contracts';
import type { PrismaService } from '../database/prisma.service';
import { Prisma } from '../database/rows';
import { isFiltered, matchesFilters } from './tenant-filters';
import type { ShownTenant } from './tenants.mapping';

export type TenantListQuery = RouteInput<typeof routes.tenantsList>['query'];
type SortKey = 'slug' | 'name' | 'createdAt' | 'monthUsed';

export interface TenantListPlace {
  /** The sort column as text, as Postgres gave it out. */
  readonly key: string;
  readonly slug: string;
}

interface PageOptions {
  readonly after: TenantListPlace | undefined;
  readonly only: string | null;
  readonly now: Date;
}

/** Rows of an order that are looked through for matches; a page that they do not fill is made of all matches, which are few then or far away. */
const WALKED_MAX = 1_000;

/** One order of the list: what is compared is what its index is made of, and the slug behind it makes the order total (C074). */
interface Order {
  readonly source: Prisma.Sql;
  readonly key: Prisma.Sql;
  /** Names and numbers as they are; instants as epoch ms. */
  readonly shownKey: Prisma.Sql;
  /** A key that a cursor names, as `key` has it. */
  readonly keyAfter: (text: string) => Prisma.Sql;
}

// Code-unit order, so that no locale of the server moves a page.
const SLUG = Prisma.sql`t.slug COLLATE "C"`;
const asText = (text: string): Prisma.Sql => Prisma.sql`${text}::text`;

const orderBy = (key: SortKey, now: Date): Order => {
  const source = Prisma.sql`tenants t`;
  if (key === 'slug') return { source, key: SLUG, shownKey: SLUG, keyAfter: asText };
  if (key === 'name') return { source, key: Prisma.sql`lower(t.name) COLLATE "C"`, shownKey: Prisma.sql`lower(t.name)`, keyAfter: asText };
  if (key === 'createdAt') {
    const shownKey = Prisma.sql`(EXTRACT(epoch FROM t.created_at) * 1000)::bigint`;
    return { source, key: Prisma.sql`t.created_at`, shownKey, keyAfter: (text) => Prisma.sql`timestamptz 'epoch' + ${text}::bigint * interval '1 millisecond'` };
  }
  // A month that is over counts as 0, whatever was used in it.
  const used = Prisma.sql`CASE WHEN m.end_at <= ${now} THEN 0 ELSE m.used END`;
  return { source: Prisma.sql`tenants t JOIN usage_months m ON m.tenant = t.slug`, key: used, shownKey: used, keyAfter: (text) => Prisma.sql`${text}::numeric` };
};

/**
 * One page of tenants. Reads along the order's index; where that finds too few matches, by the indexes of the filters.
 * @returns up to `query.limit + 1` rows
 */
export async function readTenantPage(db: PrismaService, query: TenantListQuery, { after, only, now }: PageOptions): Promise<TenantListPlace[]> {
  const sortKey = query.sort.replace('-', '') as SortKey;
  const way = query.sort.startsWith('-') ? { beyond: Prisma.sql`<`, direction: Prisma.sql`DESC` } : { beyond: Prisma.sql`>`, direction: Prisma.sql`ASC` };
  const order = orderBy(sortKey, now);
  const place = after && Prisma.sql`(${order.keyAfter(after.key)}, ${after.slug}::text COLLATE "C")`;
  const limit = query.limit + 1;
  const matches = await matchesFilters(db, query, now);
  if (matches === null) return [];
  if (only === null) {
    const walk = { ...way, place, matches: matches.one, limit };
    const found = await db.$queryRaw<TenantListPlace[]>(sortKey === 'monthUsed' ? monthsWalk({ ...walk, now }) : columnWalk(order, walk));
    if (found.length === limit || (sortKey !== 'monthUsed' && !isFiltered(query))) return found;
  }
  const own = only === null ? Prisma.empty : Prisma.sql`AND t.slug = ${only}`;
  // Materialised: the planner would walk the order again.
  return db.$queryRaw`
    WITH found AS MATERIALIZED (SELECT ${order.key} AS key, ${order.shownKey}::text AS shown, ${SLUG} AS slug FROM ${order.source} WHERE t.deleted_at IS NULL ${own} AND ${matches.all})
    SELECT shown AS key, slug FROM found ${place ? Prisma.sql`WHERE (key, slug) ${way.beyond} ${place}` : Prisma.empty}
    ORDER BY found.key ${way.direction}, slug ${way.direction} LIMIT ${limit}`;
}

interface Walk {
  readonly beyond: Prisma.Sql;
  readonly direction: Prisma.Sql;
  readonly place: Prisma.Sql | undefined;
  readonly matches: Prisma.Sql;
  readonly limit: number;
}

const columnWalk = ({ key, shownKey }: Order, { beyond, direction, place, matches, limit }: Walk): Prisma.Sql => Prisma.sql`
  SELECT t.shown AS key, t.slug FROM (
    SELECT t.id, t.slug, t.name, t.status, ${key} AS sorted, ${SLUG} AS unique_sorted, ${shownKey}::text AS shown FROM tenants t
    WHERE t.deleted_at IS NULL ${place ? Prisma.sql`AND (${key}, ${SLUG}) ${beyond} ${place}` : Prisma.empty}
    ORDER BY ${key} ${direction}, ${SLUG} ${direction} LIMIT ${WALKED_MAX}
  ) t WHERE ${matches} ORDER BY t.sorted ${direction}, t.unique_sorted ${direction} LIMIT ${limit}`;

/** Months in the order of their units, and among those with 0 the few that are over and not turned yet. */
const monthsWalk = ({ beyond, direction, place, matches, limit, now }: Walk & { readonly now: Date }): Prisma.Sql => {
  const part = (months: Prisma.Sql, key: Prisma.Sql): Prisma.Sql => Prisma.sql`
    (SELECT m.key, t.slug FROM (
      SELECT ${key} AS key, m.tenant FROM usage_months m WHERE ${months} ${place ? Prisma.sql`AND (${key}, m.tenant COLLATE "C") ${beyond} ${place}` : Prisma.empty}
      ORDER BY ${key} ${direction}, m.tenant COLLATE "C" ${direction} LIMIT ${WALKED_MAX}
    ) m CROSS JOIN LATERAL (
      -- The offset keeps it a look-up for each month, which leaves them in order.
      SELECT t.slug FROM tenants t WHERE t.slug = m.tenant AND t.deleted_at IS NULL AND ${matches} OFFSET 0
    ) t LIMIT ${limit})`;
  return Prisma.sql`
    SELECT key::text AS key, slug FROM (
      ${part(Prisma.sql`NOT (m.used <> 0 AND COALESCE(m.end_at <= ${now}, false))`, Prisma.sql`m.used`)}
      UNION ALL ${part(Prisma.sql`m.used <> 0 AND m.end_at <= ${now}`, Prisma.sql`0::numeric`)}
    ) found ORDER BY found.key ${direction}, slug COLLATE "C" ${direction} LIMIT ${limit}`;
};

/** A tenant as it is listed, with its figures: denials of the last hour, where there was traffic, and overrides in force. */
export interface ListedTenant {
  readonly row: ShownTenant;
  readonly denied: number;
  readonly overrides: number;
}

/** Instants in epoch ms; assignments `[effective, tier]`, oldest first; calendars `[from, timezone, anchorDay]`. */
type StoredListed = readonly [
  slug: string, name: string, status: string, version: number, reserved: boolean, timezone: string, anchorDay: number, createdMs: number, updatedMs: number,
  assignments: readonly (readonly [effectiveMs: number, tier: string])[] | null, calendars: readonly (readonly [fromMs: number, timezone: string, anchorDay: number])[] | null,
  denied: number, overrides: number,
];

/** Tenants of one page, in one statement and as one text, by primary keys and indexes. */
export async function readListedTenants(db: PrismaService, slugs: readonly string[], now: Date): Promise<ListedTenant[]> {
  const [found] = await db.$queryRaw<{ rows: string | null }[]>`
    SELECT json_agg(json_build_array(t.slug, t.name, t.status, t.version, t.reserved, t.timezone, t.anchor_day, ${epochMs('t.created_at')}, ${epochMs('t.updated_at')},
      (SELECT json_agg(json_build_array(${epochMs('a.effective_at')}, tiers.slug) ORDER BY a.effective_at) FROM tier_assignments a JOIN tiers ON tiers.id = a.tier_id WHERE a.tenant_id = t.id),
      (SELECT json_agg(json_build_array(${epochMs('c.from_at')}, c.timezone, c.anchor_day)) FROM tenant_calendars c WHERE c.tenant_id = t.id),
      COALESCE((SELECT sum(m.denied) FROM traffic_minutes m WHERE m.tenant = t.slug AND m.minute > ${now}::timestamptz - interval '1 hour'), 0),
      (SELECT count(*) FROM overrides o WHERE o.tenant_id = t.id AND o.reverted_at IS NULL AND o.from_at <= ${now} AND (o.until_at IS NULL OR o.until_at > ${now}))
    ))::text AS rows FROM tenants t WHERE t.slug = ANY(${[...slugs]}::text[])`;
  return found?.rows ? (JSON.parse(found.rows) as StoredListed[]).map(listedFrom) : [];
}

const epochMs = (column: string): Prisma.Sql => Prisma.raw(`(EXTRACT(epoch FROM ${column}) * 1000)::bigint`);

const listedFrom = ([slug, name, status, version, reserved, timezone, anchorDay, createdMs, updatedMs, assignments, calendars, denied, overrides]: StoredListed): ListedTenant => ({
  row: {
    slug, name, status, version, reserved, timezone, anchorDay, createdAt: new Date(createdMs), updatedAt: new Date(updatedMs),
    assignments: (assignments ?? []).map(([effectiveMs, tier]) => ({ effectiveAt: new Date(effectiveMs), tier: { slug: tier } })),
    calendars: (calendars ?? []).map(([fromMs, zone, day]) => ({ fromAt: new Date(fromMs), timezone: zone, anchorDay: day })),
  },
  denied, overrides,
});
