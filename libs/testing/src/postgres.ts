import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { migrate, readMigrations } from '../../../tools/migrate.mjs';
import { sharedClusterUrl } from './postgres-cluster';

const MIGRATIONS_DIR = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url));

export interface TestPostgres {
  url: string;
  /** Drops the database, also under open connections. */
  stop(): Promise<void>;
}

export interface TestPostgresOptions {
  /** Where the migrations lie; those of the repository when left out, none when null. */
  migrationsDir?: string | null;
}

/**
 * Gives one spec file a fresh, migrated database in about 50 ms.
 * All spec files of a Vitest run have databases in one cluster, which ends with the run.
 */
export async function startPostgres({ migrationsDir = MIGRATIONS_DIR }: TestPostgresOptions = {}): Promise<TestPostgres> {
  const clusterUrl = await sharedClusterUrl();
  const template = migrationsDir === null ? 'template0' : await migratedTemplate(clusterUrl, migrationsDir);
  const name = `test_${randomBytes(8).toString('hex')}`;
  await query(clusterUrl, `CREATE DATABASE "${name}" TEMPLATE "${template}"`);
  return {
    url: databaseUrl(clusterUrl, name),
    stop: () => drop(clusterUrl, name),
  };
}

/** How long connections that are being closed may take, in ms. */
const CLOSING_MS = 300;
const PAUSE_MS = 5;

/** A pool says that it has ended before its connections have; forced out, such a connection would raise an error that nobody listens for any more. */
async function drop(clusterUrl: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: clusterUrl });
  await client.connect();
  try {
    const untilMs = performance.now() + CLOSING_MS;
    while (performance.now() < untilMs && (await client.query('SELECT 1 FROM pg_stat_activity WHERE datname = $1', [name])).rowCount) await sleep(PAUSE_MS);
    await client.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
  } finally {
    await client.end();
  }
}

/** Makes the template once per content of the migrations, so that a watching run follows an edited migration. */
async function migratedTemplate(clusterUrl: string, migrationsDir: string): Promise<string> {
  const checksums = readMigrations(migrationsDir).map(({ checksum }) => checksum);
  const name = `template_${createHash('sha256').update(checksums.join()).digest('hex').slice(0, 16)}`;
  const client = new pg.Client({ connectionString: clusterUrl });
  await client.connect();
  try {
    // One spec file makes the template, the others wait; the lock ends with the connection.
    await client.query('SELECT pg_advisory_lock(1)');
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (rowCount) return name;
    const draft = `draft_${randomBytes(4).toString('hex')}`;
    await client.query(`CREATE DATABASE "${draft}"`);
    await migrate(databaseUrl(clusterUrl, draft), { migrationsDir });
    // Renamed when whole, so that a killed run leaves no half-migrated template.
    await client.query(`ALTER DATABASE "${draft}" RENAME TO "${name}"`);
    return name;
  } finally {
    await client.end();
  }
}

async function query(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function databaseUrl(clusterUrl: string, name: string): string {
  const url = new URL(clusterUrl);
  url.pathname = `/${name}`;
  return url.href;
}
