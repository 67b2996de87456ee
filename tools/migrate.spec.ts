import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startPostgres, type TestPostgres } from '@quotaplane/testing';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { migrate } from './migrate.mjs';
import { migrationList, withSchemaEngine } from './prisma-engine.mjs';

const RUNNER = fileURLToPath(new URL('migrate.mjs', import.meta.url));
let postgres: TestPostgres;
let client: pg.Client;
let migrationsDir: string;

beforeEach(async () => {
  postgres = await startPostgres({ migrationsDir: null });
  client = new pg.Client({ connectionString: postgres.url });
  client.on('error', () => undefined);
  await client.connect();
  migrationsDir = mkdtempSync(join(tmpdir(), 'quotaplane-migrate-'));
  write('20260101000000_first', 'CREATE TABLE "one" ("id" INT PRIMARY KEY);');
});

afterEach(async () => {
  await client.end();
  await postgres.stop();
  rmSync(migrationsDir, { recursive: true, force: true });
});

function write(name: string, sql: string): void {
  mkdirSync(join(migrationsDir, name), { recursive: true });
  writeFileSync(join(migrationsDir, name, 'migration.sql'), sql);
}

async function ask<Row>(sql: string): Promise<Row[]> {
  return (await client.query(sql)).rows as Row[];
}

const bookkeeping = () => ask<{ migration_name: string }>('SELECT migration_name FROM _prisma_migrations ORDER BY started_at');
const tables = async () =>
  (await ask<{ name: string }>(`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations' ORDER BY 1`)).map(
    ({ name }) => name,
  );

it('applies what is missing, in the order of the names, and then nothing', async () => {
  write('20260102000000_second', 'ALTER TABLE "one" RENAME TO "two";');
  expect(await migrate(postgres.url, { migrationsDir })).toEqual(['20260101000000_first', '20260102000000_second']);
  expect(await migrate(postgres.url, { migrationsDir })).toEqual([]);
  expect(await tables()).toEqual(['two']);
});

it("leaves rows that Prisma's own engine finds complete", async () => {
  await migrate(postgres.url, { migrationsDir });
  const diagnosis = await withSchemaEngine(postgres.url, (engine) =>
    engine.diagnoseMigrationHistory({
      migrationsList: migrationList(migrationsDir),
      optInToShadowDatabase: false,
      filters: { externalTables: [], externalEnums: [] },
    }),
  );
  expect(diagnosis).toMatchObject({ editedMigrationNames: [], failedMigrationNames: [], hasMigrationsTable: true, history: null });
});

it("accepts what Prisma's own engine applied", async () => {
  await withSchemaEngine(postgres.url, (engine) =>
    engine.applyMigrations({ migrationsList: migrationList(migrationsDir), filters: { externalTables: [], externalEnums: [] } }),
  );
  expect(await migrate(postgres.url, { migrationsDir })).toEqual([]);
});

it('applies each migration once when several runners start at once', async () => {
  write('20260102000000_slow', 'SELECT pg_sleep(0.1); CREATE TABLE "two" ("id" INT);');
  const runs = await Promise.all(Array.from({ length: 4 }, () => migrate(postgres.url, { migrationsDir })));
  expect(runs.map(({ length }) => length).sort()).toEqual([0, 0, 0, 2]);
  expect(await bookkeeping()).toHaveLength(2);
});

it('refuses a migration that was changed after it was applied', async () => {
  await migrate(postgres.url, { migrationsDir });
  write('20260101000000_first', 'CREATE TABLE "other" ("id" INT);');
  await expect(migrate(postgres.url, { migrationsDir })).rejects.toThrow('Migration 20260101000000_first was changed after this database applied it.');
});

it('undoes a failing migration wholly and applies its repaired file later', async () => {
  write('20260102000000_second', 'CREATE TABLE "two" ("id" INT); SELECT 1/0;');
  await expect(migrate(postgres.url, { migrationsDir })).rejects.toThrow('20260102000000_second failed and was rolled back: division by zero');
  expect(await tables()).toEqual(['one']);
  write('20260102000000_second', 'CREATE TABLE "two" ("id" INT);');
  expect(await migrate(postgres.url, { migrationsDir })).toEqual(['20260102000000_second']);
});

it('accepts a database that a newer release has migrated further', async () => {
  write('20260102000000_newer', 'CREATE TABLE "two" ("id" INT);');
  await migrate(postgres.url, { migrationsDir });
  rmSync(join(migrationsDir, '20260102000000_newer'), { recursive: true });
  expect(await migrate(postgres.url, { migrationsDir })).toEqual([]);
});

it('refuses to go on after a migration that the stock CLI left half done', async () => {
  await migrate(postgres.url, { migrationsDir });
  await client.query(`UPDATE _prisma_migrations SET finished_at = NULL`);
  await expect(migrate(postgres.url, { migrationsDir })).rejects.toThrow('failed in this database before');
});

// P26: the runner is killed while statement n of 3 is in progress.
it.each([0, 1, 2])('leaves a whole version when it is killed in statement %i of a migration', async (at) => {
  const statements = ['CREATE TABLE "a" ("id" INT);', 'CREATE TABLE "b" ("id" INT);', 'CREATE TABLE "c" ("id" INT);'];
  statements.splice(at, 0, 'SELECT pg_sleep(30);');
  write('20260102000000_three', statements.join('\n'));
  const script = `import { migrate } from '${RUNNER}'; await migrate(process.env.DATABASE_URL, { migrationsDir: '${migrationsDir}' });`;
  const runner = spawn(process.execPath, ['--input-type=module', '-e', script], { env: { ...process.env, DATABASE_URL: postgres.url }, stdio: 'ignore' });
  const exited = once(runner, 'exit');
  while ((await ask(`SELECT 1 FROM pg_stat_activity WHERE application_name = 'quotaplane-migrate' AND wait_event = 'PgSleep'`)).length === 0);
  runner.kill('SIGKILL');
  await exited;
  // The server learns of the death when it next writes to the connection; an operator would not wait for that either.
  await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'quotaplane-migrate'`);
  write('20260102000000_three', statements.filter((sql) => !sql.includes('pg_sleep')).join('\n'));
  expect(await tables()).toEqual(['one']);
  expect(await migrate(postgres.url, { migrationsDir })).toEqual(['20260102000000_three']);
  expect(await tables()).toEqual(['a', 'b', 'c', 'one']);
});
