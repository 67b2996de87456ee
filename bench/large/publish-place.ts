import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startPostgres, startRedis } from '@quotaplane/testing';
import pg from 'pg';
import { RestClient } from './rest-client';
import type { PublishPlace } from './tier-publish';

const TIER = 'bulk';
const START_LIMIT_MS = 60_000;

/** Stores, an API and a worker of their own, with one tier of so many tenants, a tenth of which have overrides and all of which have usage. */
export async function startPublishPlace(tenants: number): Promise<PublishPlace & { readonly stop: () => Promise<void> }> {
  const root = process.cwd();
  const built = mkdtempSync(join(root, 'node_modules', '.bench-api-'));
  const ends: (() => Promise<unknown> | void)[] = [() => rmSync(built, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const end of ends.reverse()) await end();
  };
  try {
    const { bundle } = (await import(pathToFileURL(join(root, 'tools/build.mjs')).href)) as { bundle: (options: object) => Promise<void> };
    const input = Object.fromEntries(['main', 'worker'].map((entry) => [entry, join(root, `apps/api/src/${entry}.ts`)]));
    await bundle({ input, tsconfig: join(root, 'apps/api/tsconfig.json'), outDir: built });
    const [postgres, redis] = await Promise.all([startPostgres({ migrationsDir: join(root, 'prisma/migrations') }), startRedis()]);
    ends.push(() => postgres.stop(), () => redis.stop());
    const token = randomBytes(24).toString('base64url');
    const env = { DATABASE_URL: postgres.url, REDIS_URL: redis.url, QUOTAPLANE_HOST: '127.0.0.1', PORT: '0', QUOTAPLANE_BOOTSTRAP_TOKEN: token, ...secrets() };
    const start = (entry: string, ready: RegExp) => startProcess(join(built, `${entry}.mjs`), env, ready, (end) => ends.push(end));
    const apiUrl = await start('main', /The API listens on (http:\S+)/);
    const rest = new RestClient(apiUrl, token);
    await createTier(rest);
    const slugs = await fill(postgres.url, tenants);
    await start('worker', /The worker publishes/);
    return { apiUrl, token, redisUrl: redis.url, tier: TIER, slugs, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const secrets = (): Record<string, string> =>
  Object.fromEntries(['QUOTAPLANE_TOKEN_PEPPER', 'QUOTAPLANE_SESSION_KEY', 'QUOTAPLANE_SIGNING_KEY'].map((name) => [name, randomBytes(32).toString('base64url')]));

function startProcess(path: string, env: Record<string, string>, ready: RegExp, onStarted: (end: () => Promise<void>) => void): Promise<string> {
  const child = spawn(process.execPath, [path], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  onStarted(async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    if (child.exitCode === null && child.kill('SIGKILL')) await ended;
  });
  return new Promise((resolve, reject) => {
    let output = '';
    const timer = setTimeout(() => reject(new RangeError(`${path} is not ready: ${output}`)), START_LIMIT_MS);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (piece) => {
        output += String(piece);
        if (/WARN|ERROR/.test(String(piece))) process.stderr.write(String(piece));
        const found = ready.exec(output);
        if (found === null) return;
        clearTimeout(timer);
        resolve(found[1] ?? '');
      });
    }
    child.once('exit', (code) => reject(new RangeError(`${path} ended with ${code}: ${output}`)));
  });
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
