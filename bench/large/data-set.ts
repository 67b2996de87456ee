import pg from 'pg';

export interface DataSetSize {
  readonly tenants: number;
  readonly overrides: number;
  readonly usageRows: number;
  readonly auditEntries: number;
}

export const FULL_SIZE: DataSetSize = { tenants: 100_000, overrides: 1_000_000, usageRows: 10_000_000, auditEntries: 500_000 };

/** Published before the data set is filled, the last one with a handful of tenants. */
export const BENCH_TIERS = ['bench-free', 'bench-pro', 'bench-enterprise', 'bench-rare'] as const;
/** Meters that every tenant has used in each month, `requests` among them. */
export const METERS = 10;
/** Endpoint classes of each meter. */
const CLASSES = 2;

export const slugOf = (n: number): string => `${WORDS[n % WORDS.length] ?? ''}-${String(n).padStart(6, '0')}`;
const WORDS = ['acacia', 'baobab', 'cedar', 'dogwood', 'elm', 'fir', 'ginkgo', 'hazel', 'ironwood', 'juniper', 'kapok', 'larch', 'maple', 'neem', 'oak', 'pine'];

const words = `(ARRAY[${WORDS.map((word) => `'${word}'`).join(',')}])`;
const slugSql = (n: string): string => `${words}[1 + ${n} % ${WORDS.length}] || '-' || lpad((${n})::text, 6, '0')`;
/** Any order but that of the slugs, since rows come in as tenants call. */
const shuffled = (n: string, count: number): string => `((${n})::bigint * 7919 % ${count})::int`;

/** One step of the filling, with the indexes that are built anew behind it. */
interface Step {
  readonly name: string;
  readonly table: string;
  readonly sql: string;
}

function steps({ tenants, overrides, usageRows, auditEntries }: DataSetSize): Step[] {
  const months = Math.max(1, Math.round(usageRows / (tenants * METERS * CLASSES)));
  return [
    { name: 'tenants', table: 'tenants', sql: `
      INSERT INTO tenants (id, slug, name, timezone, anchor_day, status, created_at, updated_at)
      SELECT gen_random_uuid(), ${slugSql('n')}, 'Company ' || md5(n::text) || ' Ltd',
        CASE WHEN n % 10 < 7 THEN 'UTC' ELSE (ARRAY['America/New_York','Europe/Berlin','Asia/Tokyo'])[1 + n % 3] END, CASE WHEN n % 10 = 9 THEN 1 + n % 28 ELSE 1 END,
        CASE WHEN n % 500 = 0 THEN 'suspended' ELSE 'active' END, now() - interval '800 days' + n * interval '600 days' / ${tenants}, now()
      FROM (SELECT ${shuffled('i', tenants)} AS n FROM generate_series(0, ${tenants - 1}) i) numbers` },
    { name: 'tier assignments', table: 'tier_assignments', sql: `
      INSERT INTO tier_assignments (id, tenant_id, tier_id, effective_at, created_at, created_by)
      SELECT gen_random_uuid(), t.id, tiers.id, t.created_at, t.created_at, 'bench' FROM tenants t CROSS JOIN LATERAL (SELECT right(t.slug, 6)::int AS n) numbered
      JOIN tiers ON tiers.slug = (ARRAY['${BENCH_TIERS.join('\',\'')}'])[CASE WHEN n % 10000 = 1 THEN 4 WHEN n % 10 < 6 THEN 1 WHEN n % 10 < 9 THEN 2 ELSE 3 END] WHERE t.slug LIKE '%-______'` },
    { name: 'keys', table: 'api_keys', sql: `
      INSERT INTO api_keys (id, tenant_id, name, secret_hash, hint, created_at, created_by)
      SELECT gen_random_uuid(), id, 'key', md5(slug) || md5(id::text), 'qpk_bench', created_at, 'bench' FROM tenants WHERE slug LIKE '%-______'` },
    // Every tenant has some, the tenth part belongs to one; one in ten is yet to come, two run, seven are over, of which one was reverted.
    { name: 'overrides', table: 'overrides', sql: `
      INSERT INTO overrides (id, tenant_id, subject, subject_field, mode, set, reason, from_at, until_at, reverted_at, reverted_by, created_at, created_by, updated_at)
      SELECT gen_random_uuid(), t.id, CASE WHEN o.single THEN jsonb_build_object('scope', 'user', 'id', 'u-' || o.i) ELSE '{"scope":"tenant"}' END,
        CASE WHEN o.single THEN 'user:u-' || o.i ELSE '' END, 'at-least', CASE WHEN o.single THEN '{"limits":{"per-user":{"limit":900}}}' ELSE '{"limits":{"per-minute":{"limit":9000}}}' END::jsonb,
        'agreed with sales', o.at + CASE WHEN o.i % 10 = 0 THEN interval '900 days' ELSE interval '0' END,
        CASE WHEN o.i % 10 = 0 THEN o.at + interval '930 days' WHEN o.i % 10 < 3 THEN CASE WHEN o.i % 20 < 10 THEN now() + interval '40 days' END ELSE o.at + interval '1 day' END,
        CASE WHEN o.i % 10 = 9 THEN o.at + interval '1 hour' END, CASE WHEN o.i % 10 = 9 THEN 'bench' END, o.at, 'bench', o.at
      FROM (SELECT i, i % 11 < 3 OR i % 10 = 1 AS single, now() - interval '700 days' + i * interval '690 days' / ${overrides} AS at,
        CASE WHEN i % 10 = 1 THEN 7 ELSE ${shuffled('i', tenants)} END AS n FROM generate_series(0, ${overrides - 1}) i) o
      JOIN tenants t ON t.slug = ${slugSql('o.n')}` },
    { name: 'periods', table: 'usage_periods', sql: `
      INSERT INTO usage_periods (tenant, period_id, start_at, end_at, timezone)
      SELECT tenant, to_char(start_day, 'YYYY-MM-DD'), start_day::timestamp AT TIME ZONE timezone, (start_day + interval '1 month')::timestamp AT TIME ZONE timezone, timezone
      FROM (SELECT slug AS tenant, timezone, (date_trunc('month', now() AT TIME ZONE timezone) - m * interval '1 month')::date
          + (anchor_day - 1)
          - CASE WHEN anchor_day > EXTRACT(day FROM now() AT TIME ZONE timezone) THEN interval '1 month' ELSE interval '0' END AS start_day
        FROM tenants CROSS JOIN generate_series(0, ${months - 1}) m WHERE slug LIKE '%-______') cut` },
    { name: 'usage rows', table: 'usage_journals', sql: `
      INSERT INTO usage_journals (incarnation, tenant, meter, period_id, part, class, generation, admitted, refunded, updated_at)
      SELECT 'bench-node', p.tenant, CASE m WHEN 0 THEN 'requests' ELSE 'meter-' || m END, p.period_id, 1, CASE c WHEN 0 THEN 'default' ELSE 'search' END, 1,
        (right(p.tenant, 6)::bigint * 7919 % 1000003) * (1 + c) + m, right(p.tenant, 6)::bigint % 7, p.end_at
      FROM (SELECT * FROM usage_periods WHERE tenant LIKE '%-______' ORDER BY period_id, md5(tenant)) p CROSS JOIN generate_series(0, ${METERS - 1}) m CROSS JOIN generate_series(0, ${CLASSES - 1}) c` },
    { name: 'months', table: 'usage_months', sql: `
      INSERT INTO usage_months (tenant, period_id, end_at, used)
      SELECT DISTINCT ON (j.tenant) j.tenant, j.period_id, p.end_at, sum(admitted - refunded) FROM usage_journals j JOIN usage_periods p USING (tenant, period_id)
      WHERE meter = 'requests' AND p.end_at > now() GROUP BY j.tenant, j.period_id, p.end_at ORDER BY j.tenant, j.period_id DESC
      ON CONFLICT (tenant) DO UPDATE SET period_id = excluded.period_id, end_at = excluded.end_at, used = excluded.used` },
    { name: 'traffic', table: 'traffic_minutes', sql: `
      INSERT INTO traffic_minutes (tenant, minute, allowed, units, denied, denied_by_limit)
      SELECT slug, date_trunc('minute', now()) - m * interval '1 minute', 100, 120, 3, '{"per-minute":3}' FROM tenants CROSS JOIN generate_series(1, 60) m WHERE slug LIKE '%-____00'` },
    { name: 'audit entries', table: 'audit_entries', sql: `
      INSERT INTO audit_entries (id, chain, seq, at, actor, action, entity_type, entity_id, tenant, reason, before, after, change_id, prev_hash, hash)
      SELECT gen_random_uuid(), 'bench-' || n, i, now() - interval '700 days' + i * interval '699 days' / ${auditEntries},
        jsonb_build_object('kind', 'operator', 'id', md5((i % 200)::text)::uuid, 'name', 'operator-' || i % 200 || '@example.com'),
        (ARRAY['override.create','override.revert','tenant.update','tenant.move'])[1 + i % 4], (ARRAY['override','override','tenant','tenant'])[1 + i % 4],
        CASE WHEN i % 4 < 2 THEN gen_random_uuid()::text ELSE ${slugSql('n')} END, ${slugSql('n')}, 'agreed with sales', NULL, '{"name":"after"}', gen_random_uuid(), '', md5(i::text)
      FROM (SELECT i, ${shuffled('i', tenants)} AS n FROM generate_series(1, ${auditEntries}) i) entries` },
  ];
}

/** Fills the tables straight, for the API would take days; figures that triggers keep are worked out behind. Indexes are built when their table is full. */
export async function fillDataSet(databaseUrl: string, size: DataSetSize, tell: (line: string) => void): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(`SET session_replication_role = replica; SET maintenance_work_mem = '1GB'; SET work_mem = '256MB'; SET synchronous_commit = off`);
    for (const step of steps(size)) {
      const startedAt = performance.now();
      const { rows: indexes } = await client.query<{ name: string; definition: string }>(
        `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index WHERE indrelid = $1::regclass AND NOT indisunique`, [step.table]);
      for (const { name } of indexes) await client.query(`DROP INDEX ${name}`);
      const isBig = step.table === 'usage_journals';
      if (isBig) await client.query('ALTER TABLE usage_journals DROP CONSTRAINT usage_journals_pkey');
      const { rowCount } = await client.query(step.sql);
      if (isBig) await client.query('ALTER TABLE usage_journals ADD CONSTRAINT usage_journals_pkey PRIMARY KEY (tenant, period_id, meter, part, class, generation, incarnation)');
      for (const { definition } of indexes) await client.query(definition);
      tell(`${step.name}: ${rowCount} rows in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    }
    await client.query('VACUUM (ANALYZE)');
  } finally {
    await client.end();
  }
}
