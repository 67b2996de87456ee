import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startPostgres } from './postgres';

let migrationsDir: string;

beforeAll(async () => {
  migrationsDir = await mkdtemp(join(tmpdir(), 'quotaplane-migrations-'));
  await mkdir(join(migrationsDir, '20260101000000_init'));
  await writeFile(join(migrationsDir, '20260101000000_init', 'migration.sql'), 'CREATE TABLE "thing" ("id" INT PRIMARY KEY);\n');
});

afterAll(() => rm(migrationsDir, { recursive: true, force: true }));

async function rows(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const result = await client.query(sql);
  await client.end();
  return result.rows;
}

it('gives each caller a migrated database that the others do not see', async () => {
  const [one, two] = await Promise.all([startPostgres({ migrationsDir }), startPostgres({ migrationsDir })]);
  await rows(one.url, 'INSERT INTO "thing" VALUES (1)');
  expect(await rows(one.url, 'SELECT * FROM "thing"')).toEqual([{ id: 1 }]);
  expect(await rows(two.url, 'SELECT * FROM "thing"')).toEqual([]);
  await Promise.all([one.stop(), two.stop()]);
});

// Mutation: migrate each database for itself and the table's file is another in each.
it('clones the one template of these migrations instead of migrating again', async () => {
  const databases = await Promise.all(Array.from({ length: 3 }, () => startPostgres({ migrationsDir })));
  // A clone keeps the file nodes of its template; a table that a migration has created gets a new one.
  const fileOf = async (url: string): Promise<unknown> => (await rows(url, "SELECT relfilenode FROM pg_class WHERE relname = 'thing'"))[0];
  const [first, ...others] = await Promise.all(databases.map(({ url }) => fileOf(url)));
  expect(first).toBeDefined();
  for (const other of others) expect(other).toEqual(first);
  await Promise.all(databases.map((database) => database.stop()));
});

it('uses one cluster for all databases of a run', async () => {
  const [one, two] = await Promise.all([startPostgres({ migrationsDir }), startPostgres({ migrationsDir })]);
  expect(new URL(one.url).port).toBe(new URL(two.url).port);
  await Promise.all([one.stop(), two.stop()]);
});

it('drops a database that is still in use', async () => {
  const database = await startPostgres({ migrationsDir: null });
  const client = new pg.Client({ connectionString: database.url });
  client.on('error', () => undefined);
  await client.connect();
  await database.stop();
  await expect(client.query('SELECT 1')).rejects.toThrow();
});
