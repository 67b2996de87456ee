import { startPostgres, type TestPostgres } from '@quotaplane/testing';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readAuditPage } from '../audit/audit-list-sql';
import { readConfig } from '../config/app-config';
import { PrismaService } from '../database/prisma.service';
import { readMonthPage } from '../statements/statement-list-sql';
import { readUsageSums } from '../usage/usage-sql';
import { readListedTenants, readTenantPage, type TenantListQuery } from './tenant-list-sql';

const NOW = new Date('2026-11-15T12:00:00Z');
const TENANTS = 20_000;
/** Its tenants are behind the 1,000 rows that are walked of an order. */
const RARE_TIER = '00000000-0000-4000-8000-000000000002';

let postgres: TestPostgres;
let prisma: PrismaService;
/** Looks at Postgres's own counts. */
let watcher: pg.Client;
beforeAll(async () => {
  postgres = await startPostgres();
  watcher = new pg.Client({ connectionString: postgres.url });
  await watcher.connect();
  await watcher.query(`
    INSERT INTO tiers (id, slug, name, updated_at) VALUES ('00000000-0000-4000-8000-000000000001', 'usual', 'Usual', now()), ('${RARE_TIER}', 'rare', 'Rare', now());
    INSERT INTO tenants (id, slug, name, status, created_at, updated_at)
      SELECT gen_random_uuid(), 'plan-' || md5(n::text), 'Company ' || md5((-n)::text), CASE WHEN n % 5000 = 0 THEN 'suspended' ELSE 'active' END, timestamptz '2025-01-01' + n * interval '1 minute', now()
      FROM generate_series(1, ${TENANTS}) n;
    INSERT INTO tier_assignments (id, tenant_id, tier_id, effective_at, created_by)
      SELECT gen_random_uuid(), id, CASE WHEN row_number() OVER (ORDER BY slug DESC) <= 5 THEN '${RARE_TIER}'::uuid ELSE '00000000-0000-4000-8000-000000000001' END, created_at, 'spec' FROM tenants;
    INSERT INTO usage_periods (tenant, period_id, start_at, end_at, timezone) SELECT slug, '2026-11-01', '2026-11-01Z', '2026-12-01Z', 'UTC' FROM tenants;
    INSERT INTO usage_journals (incarnation, tenant, meter, period_id, part, class, generation, admitted)
      SELECT 'spec', slug, 'requests', '2026-11-01', 1, 'default', 1, ('x' || left(md5(slug), 6))::bit(24)::int FROM tenants;
    INSERT INTO overrides (id, tenant_id, subject, mode, set, reason, from_at, created_at, created_by, updated_at)
      SELECT gen_random_uuid(), id, '{"scope":"tenant"}', 'exactly', '{"concurrency":5}', 'spec', created_at, created_at, 'spec', created_at FROM tenants;
    INSERT INTO audit_entries (id, chain, seq, at, actor, action, entity_type, entity_id, tenant, change_id, prev_hash, hash)
      SELECT gen_random_uuid(), slug, 1, created_at, jsonb_build_object('id', 'id-' || right(slug, 3), 'name', right(slug, 3)), 'tenant.create', 'tenant', slug, slug, gen_random_uuid(), '', '' FROM tenants;
    INSERT INTO statements (id, tenant, period_id, number, start_at, closed_at, closed_by, content, previous_hash, hash)
      SELECT gen_random_uuid(), slug, CASE WHEN right(slug, 2) = '00' THEN '2026-02-01' ELSE '2026-09-01' END, 1, created_at, created_at, 'spec', '{}', '', '' FROM tenants;
  `);
  // Vacuumed, or the newest entries of the search's index were in no order yet.
  await watcher.query('VACUUM (ANALYZE)');
  prisma = new PrismaService(readConfig({ DATABASE_URL: postgres.url, REDIS_URL: 'redis://127.0.0.1:1', QUOTAPLANE_DB_POOL: '1' }));
}, 120_000);
afterAll(async () => {
  await prisma?.$disconnect();
  await watcher?.end();
  await postgres?.stop();
});

const tenants = (query: Partial<TenantListQuery>, after?: { key: string; slug: string }) => () => readTenantPage(prisma, { limit: 50, sort: 'slug', ...query }, { after, only: null, now: NOW });

async function uses(): Promise<{ readonly whole: ReadonlyMap<string, number>; readonly indexes: ReadonlyMap<string, number> }> {
  // A connection reports what it did now and then; this one is told to.
  await prisma.$queryRaw`SELECT pg_stat_force_next_flush()::text`;
  await prisma.$queryRaw`SELECT 1`;
  const whole = await watcher.query<{ name: string; uses: string }>('SELECT relname AS name, seq_scan AS uses FROM pg_stat_user_tables');
  const indexes = await watcher.query<{ name: string; uses: string }>('SELECT indexrelname AS name, idx_scan AS uses FROM pg_stat_user_indexes');
  const counts = (rows: { name: string; uses: string }[]): Map<string, number> => new Map(rows.map((row) => [row.name, Number(row.uses)]));
  return { whole: counts(whole.rows), indexes: counts(indexes.rows) };
}

const grown = (before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): string[] => [...after].filter(([name, uses]) => uses > (before.get(name) ?? 0)).map(([name]) => name);

// Mutation: drop the index that a line names.
it.each<[string, () => Promise<unknown>, string]>([
  ['tenants by slug', tenants({}), 'tenants_slug_idx'],
  ['tenants by -slug, further down', tenants({ sort: '-slug' }, { key: 'plan-8', slug: 'plan-8' }), 'tenants_slug_idx'],
  ['tenants by name', tenants({ sort: 'name' }), 'tenants_list_name_idx'],
  ['tenants by -createdAt, further down', tenants({ sort: '-createdAt' }, { key: String(Date.UTC(2025, 0, 5)), slug: 'plan-5' }), 'tenants_list_created_at_idx'],
  ['tenants by -monthUsed', tenants({ sort: '-monthUsed' }), 'usage_months_used_tenant_idx'],
  ['tenants by monthUsed, further down', tenants({ sort: 'monthUsed' }, { key: '8000000', slug: 'plan-5' }), 'usage_months_used_tenant_idx'],
  ['tenants of a tier that few have', tenants({ tier: 'rare' }), 'tier_assignments_tier_id_idx'],
  ['tenants that are suspended', tenants({ status: 'suspended' }), 'tenants_suspended_idx'],
  ['tenants by a part of the slug', tenants({ q: 'an-c4ca42' }), 'tenants_slug_name_idx'],
  ['tenants by a part of the name', tenants({ q: 'pany abc12' }), 'tenants_slug_name_idx'],
  ['overrides in force of listed tenants', () => readListedTenants(prisma, ['plan-c4ca4238a0b923820dcc509a6f75849b'], NOW), 'overrides_in_force_idx'],
  ['audit entries of one entity', () => readAuditPage(prisma, { entity: 'plan-c4ca4238a0b923820dcc509a6f75849b' }, undefined, 51), 'audit_entries_entity_id_at_id_idx'],
  ['audit entries of one actor', () => readAuditPage(prisma, { actor: '49b' }, undefined, 51), 'audit_entries_actor_name_idx'],
  ['audit entries of an action, further down', () => readAuditPage(prisma, { action: 'tenant.none' }, ['2025-01-05T00:00:00.000Z', RARE_TIER], 51), 'audit_entries_action_at_id_idx'],
  ['statements of a month', () => readMonthPage(prisma, '2026-02', undefined, 51), 'statements_month_idx'],
  ['sums of usage', () => readUsageSums(prisma, ['plan-c4ca4238a0b923820dcc509a6f75849b'], ['2026-11-01']), 'usage_journals_.*'],
])('reads %s by an index, and no big table whole', async (_name, read, index) => {
  const before = await uses();
  await read();
  const after = await uses();
  expect(grown(before.indexes, after.indexes)).toContainEqual(expect.stringMatching(new RegExp(`^${index}$`)));
  const big = ['tenants', 'tier_assignments', 'usage_months', 'overrides', 'audit_entries', 'statements', 'usage_periods', 'usage_journals_2026_11', 'usage_journals_default'];
  expect(grown(before.whole, after.whole).filter((table) => big.includes(table))).toEqual([]);
});

// Mutation: let a journal's trigger add what is written twice, or a new period keep the units of the last one.
it('keeps the units of each tenant\'s newest period, whoever writes journals', async () => {
  const used = async (): Promise<string> => (await watcher.query<{ used: string }>(`SELECT period_id || ' ' || used AS used FROM usage_months WHERE tenant = 'counted'`)).rows[0]?.used ?? '';
  const write = (periodId: string, node: string, admitted: number, refunded: number) => watcher.query(`
    INSERT INTO usage_journals AS held (incarnation, tenant, meter, period_id, part, class, generation, admitted, refunded) VALUES ($1, 'counted', 'requests', $2, 1, 'default', 1, $3, $4)
    ON CONFLICT (tenant, period_id, meter, part, class, generation, incarnation) DO UPDATE SET admitted = GREATEST(held.admitted, excluded.admitted), refunded = GREATEST(held.refunded, excluded.refunded)`,
  [node, periodId, admitted, refunded]);
  await watcher.query(`INSERT INTO tenants (id, slug, name, updated_at) VALUES (gen_random_uuid(), 'counted', 'Counted', now())`);
  expect(await used()).toBe(' 0');
  await write('2026-10-01', 'a', 10, 1);
  await write('2026-10-01', 'b', 5, 0);
  await write('2026-10-01', 'a', 12, 1);
  await write('2026-10-01', 'a', 11, 0);
  expect(await used()).toBe('2026-10-01 16');
  await write('2026-11-01', 'a', 3, 0);
  await write('2026-10-01', 'b', 100, 0);
  expect(await used()).toBe('2026-11-01 3');
  await watcher.query(`DELETE FROM usage_journals WHERE tenant = 'counted' AND period_id = '2026-11-01'`);
  expect(await used()).toBe('2026-11-01 0');
});

// Mutation: sort by the units of a month that is over.
it('counts a month that is over as nothing, on every page', async () => {
  await watcher.query(`UPDATE usage_months SET end_at = '2026-11-10Z' WHERE tenant IN (SELECT tenant FROM usage_months ORDER BY used DESC LIMIT 3)`);
  const seen: string[] = [];
  for (let after: { key: string; slug: string } | undefined; ;) {
    const page = await tenants({ sort: '-monthUsed', limit: 5_000 }, after)();
    seen.push(...page.slice(0, 5_000).map(({ slug }) => slug));
    after = page[4_999];
    if (page.length <= 5_000) break;
  }
  expect([seen.length, new Set(seen).size]).toEqual([TENANTS + 1, TENANTS + 1]);
  const { rows } = await watcher.query<{ slug: string }>(`
    SELECT t.slug FROM tenants t JOIN usage_months m ON m.tenant = t.slug ORDER BY CASE WHEN m.end_at <= $1 THEN 0 ELSE m.used END DESC, t.slug COLLATE "C" DESC`, [NOW]);
  expect(seen).toEqual(rows.map(({ slug }) => slug));
});
