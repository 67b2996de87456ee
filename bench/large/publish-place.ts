import pg from 'pg';
import { startControlPlane } from './control-plane';
import type { RestClient } from './rest-client';
import type { PublishPlace } from './tier-publish';

const TIER = 'bulk';

/** Stores, an API and a worker of their own, with one tier of so many tenants, a tenth of which have overrides and all of which have usage. */
export async function startPublishPlace(tenants: number): Promise<PublishPlace & { readonly stop: () => Promise<void> }> {
  const { api, rest, token, databaseUrl, redisUrl, startWorker, stop } = await startControlPlane();
  try {
    await createTier(rest);
    const slugs = await fill(databaseUrl, tenants);
    await startWorker();
    return { apiUrl: api.url, token, redisUrl, tier: TIER, slugs, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function createTier(rest: RestClient): Promise<void> {
  await rest.ask('POST', '/v1/tiers', { body: { slug: TIER, name: 'Bulk' } });
  const { etag } = await rest.ask('GET', `/v1/tiers/${TIER}/draft`);
  const limits = [
    { name: 'per-minute', algorithm: 'token-bucket', scope: 'tenant', limit: 600, windowMs: 60_000, mode: 'enforce' },
    { name: 'per-second', algorithm: 'gcra', scope: 'user', limit: 20, windowMs: 1_000, mode: 'enforce' },
    { name: 'per-hour', algorithm: 'sliding-counter', scope: 'ip', limit: 5_000, windowMs: 3_600_000, mode: 'enforce' },
  ];
  const quotas = [{ meter: 'requests', allowance: 1_000_000, overage: 'bill', alertAt: [80, 100] }];
  await rest.ask('PUT', `/v1/tiers/${TIER}/draft`, { ifMatch: etag, body: { limits, concurrency: 50, quotas } });
  await rest.ask('POST', `/v1/tiers/${TIER}/publish`, { body: {} });
}

/** Straight into Postgres, for the API would take minutes. @returns slugs */
async function fill(databaseUrl: string, tenants: number): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(`
      INSERT INTO tenants (id, slug, name, updated_at) SELECT gen_random_uuid(), 'bulk-' || lpad(n::text, 6, '0'), 'Bulk ' || n, now() FROM generate_series(1, $1::int) n`, [tenants]);
    await client.query(`
      INSERT INTO tier_assignments (id, tenant_id, tier_id, effective_at, created_at, created_by)
      SELECT gen_random_uuid(), t.id, tiers.id, now(), now(), 'bench' FROM tenants t, tiers WHERE t.slug LIKE 'bulk-%' AND tiers.slug = $1`, [TIER]);
    await client.query(`
      INSERT INTO overrides (id, tenant_id, subject, mode, set, reason, from_at, created_at, created_by, updated_at)
      SELECT gen_random_uuid(), id, '{"scope":"tenant"}', 'exactly', '{"limits":{"per-second":{"limit":40}}}', 'bench', now(), now(), 'bench', now()
      FROM tenants WHERE slug LIKE 'bulk-%0'`);
    await client.query(`
      INSERT INTO usage_periods (tenant, period_id, start_at, end_at, timezone)
      SELECT slug, to_char(date_trunc('month', now() AT TIME ZONE 'UTC'), 'YYYY-MM-DD'), date_trunc('month', now(), 'UTC'), date_trunc('month', now(), 'UTC') + interval '1 month', 'UTC'
      FROM tenants WHERE slug LIKE 'bulk-%'`);
    await client.query(`
      INSERT INTO usage_journals (incarnation, tenant, meter, period_id, part, class, generation, admitted)
      SELECT 'bench-node', tenant, 'requests', period_id, 1, 'default', 1, 100 FROM usage_periods WHERE tenant LIKE 'bulk-%'`);
    await client.query('ANALYZE');
    const { rows } = await client.query<{ slug: string }>(`SELECT slug FROM tenants WHERE slug LIKE 'bulk-%' ORDER BY slug`);
    return rows.map(({ slug }) => slug);
  } finally {
    await client.end();
  }
}
