#!/usr/bin/env node
// Applies prisma/migrations in Prisma's own format, so that the stock CLI accepts the database anywhere.
// Usage: DATABASE_URL=... node tools/migrate.mjs
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

// The stock CLI takes the same advisory lock, so it and this runner never work at once.
const PRISMA_LOCK = 72_707_369;

// The table exactly as the stock CLI creates it.
const BOOKKEEPING_TABLE = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY NOT NULL,
  "checksum" VARCHAR(64) NOT NULL,
  "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL,
  "logs" TEXT,
  "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
  "applied_steps_count" INTEGER NOT NULL DEFAULT 0
)`;

/** A migration cannot be applied; the message is one line that says what to do. */
export class MigrationError extends Error {
  name = 'MigrationError';
}

/** @typedef {{ name: string, sql: string, checksum: string }} Migration */

/**
 * Brings the database to the newest version: each migration wholly or not at all, in the order of their names.
 * Several runners may be started at once; the others wait and then find nothing to do.
 * Migrations that the database has and the folder lacks are accepted: a newer release was here, and a release must work on the next one's schema.
 * @param {string} databaseUrl
 * @param {{ migrationsDir?: string }} [options]
 * @returns {Promise<string[]>} the names applied by this call
 * @throws {MigrationError} an applied migration was changed, one failed before or now
 */
export async function migrate(databaseUrl, { migrationsDir = defaultMigrationsDir() } = {}) {
  const migrations = readMigrations(migrationsDir);
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000, application_name: 'quotaplane-migrate' });
  // A lost connection fails the statement that is waiting; without a listener it would end the process too.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [PRISMA_LOCK]);
    await client.query(BOOKKEEPING_TABLE);
    const pending = pendingMigrations(migrations, await readBookkeeping(client));
    for (const migration of pending) await apply(client, migration);
    return pending.map(({ name }) => name);
  } finally {
    // The end of the session gives the lock back, also when this process is killed.
    await client.end();
  }
}

/**
 * @param {string} folder
 * @returns {Migration[]} sorted by name
 */
export function readMigrations(folder) {
  if (!existsSync(folder)) throw new MigrationError(`There is no folder ${folder} with migrations.`);
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(folder, entry.name, 'migration.sql')))
    .map((entry) => {
      const content = readFileSync(join(folder, entry.name, 'migration.sql'));
      return { name: entry.name, sql: content.toString('utf8'), checksum: createHash('sha256').update(content).digest('hex') };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * @param {Migration[]} migrations
 * @param {{ migration_name: string, checksum: string, isFinished: boolean }[]} rows
 * @returns {Migration[]}
 */
function pendingMigrations(migrations, rows) {
  const failed = rows.find((row) => !row.isFinished);
  if (failed) {
    throw new MigrationError(
      `Migration ${failed.migration_name} failed in this database before. Repair the database, then mark it with "npx prisma migrate resolve".`,
    );
  }
  const applied = new Map(rows.map((row) => [row.migration_name, row.checksum]));
  const changed = migrations.find(({ name, checksum }) => applied.has(name) && applied.get(name) !== checksum);
  if (changed) {
    throw new MigrationError(`Migration ${changed.name} was changed after this database applied it. Restore its file and put the change into a new migration.`);
  }
  return migrations.filter(({ name }) => !applied.has(name));
}

/**
 * @param {pg.Client} client
 * @returns {Promise<{ migration_name: string, checksum: string, isFinished: boolean }[]>}
 */
async function readBookkeeping(client) {
  const { rows } = await client.query(
    `SELECT "migration_name", "checksum", "finished_at" IS NOT NULL AS "isFinished"
       FROM "_prisma_migrations" WHERE "rolled_back_at" IS NULL ORDER BY "started_at"`,
  );
  return rows;
}

/**
 * @param {pg.Client} client
 * @param {Migration} migration
 */
async function apply(client, migration) {
  try {
    await client.query('BEGIN');
    // now() stands still inside a transaction; the row tells the true times.
    const { rows } = await client.query('SELECT clock_timestamp() AS "startedAt"');
    await client.query(migration.sql);
    await client.query(
      `INSERT INTO "_prisma_migrations" ("id", "checksum", "migration_name", "started_at", "finished_at", "applied_steps_count")
       VALUES ($1, $2, $3, $4, clock_timestamp(), 1)`,
      [randomUUID(), migration.checksum, migration.name, rows[0].startedAt],
    );
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    const reason = error instanceof Error ? error.message : String(error);
    throw new MigrationError(`Migration ${migration.name} failed and was rolled back: ${reason}`, { cause: error });
  }
}

/** The bundled API carries this module too, so the folder is looked for upwards from wherever it lies. */
function defaultMigrationsDir() {
  for (let folder = new URL('.', import.meta.url); ; folder = new URL('..', folder)) {
    const candidate = fileURLToPath(new URL('prisma/migrations', folder));
    if (existsSync(candidate) || folder.pathname === '/') return candidate;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    if (!process.env.DATABASE_URL) throw new MigrationError('Set DATABASE_URL to the database to migrate.');
    const applied = await migrate(process.env.DATABASE_URL);
    console.log(applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
